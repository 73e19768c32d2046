/** The longest that a timer of Node can be set to. */
const VERY_LONG_MS = 2 ** 31 - 1

/** Ctrl-C, and what service managers send. A second one, also of the other kind, ends the process at once. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    // To wait for a signal keeps no process alive, and servers of their own have nothing to do in this one.
    const alive = setInterval(() => undefined, VERY_LONG_MS)
    const first = (): void => {
      clearInterval(alive)
      process.off('SIGINT', first)
      process.off('SIGTERM', first)
      resolve()
    }
    process.on('SIGINT', first)
    process.on('SIGTERM', first)
  })
}

/** The same as a signal: ends waiting and watching, the sessions go on. */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController()
  void interrupted().then(() => controller.abort())
  return controller.signal
}
