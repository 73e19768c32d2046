/** The longest that a timer of Node can be set to. */
const VERY_LONG_MS = 2 ** 31 - 1
/** One Ctrl-C may come as several signals: the terminal tells all processes, and npm and tsx pass theirs on as well. */
const SAME_PRESS_MS = 500
/** Ctrl-C, what service managers send, and what a terminal says that is closed; each with its number. */
const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const

/**
 * Resolves when somebody wants this process to end. Whoever insists, half a second later or more, ends it at once, with
 * 128 and the signal's number as its exit code.
 *
 * The listeners stay to the end of the process. Libraries that clean up at exit (signal-exit, which log-update and many
 * others load) end a process at a signal as soon as nobody else listens.
 */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    // To wait for a signal keeps no process alive, and servers of their own have nothing to do in this one.
    const alive = setInterval(() => undefined, VERY_LONG_MS)
    let first: number | undefined
    for (const [signal, number] of Object.entries(SIGNALS)) {
      process.on(signal, () => {
        if (first !== undefined && performance.now() - first > SAME_PRESS_MS) process.exit(128 + number)
        first ??= performance.now()
        clearInterval(alive)
        resolve()
      })
    }
  })
}

/** The same as a signal: ends waiting and watching, the sessions go on. */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController()
  void interrupted().then(() => controller.abort())
  return controller.signal
}
