/** Ctrl-C, and what service managers send. A second one, also of the other kind, ends the process at once. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    const first = (): void => {
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
