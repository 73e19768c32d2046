/** Ctrl-C, and what service managers send. A second one ends the process at once. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}

/** The same as a signal: ends waiting and watching, the sessions go on. */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController()
  void interrupted().then(() => controller.abort())
  return controller.signal
}
