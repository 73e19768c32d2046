/** The longest that a timer of Node can be set to. */
const VERY_LONG_MS = 2 ** 31 - 1
/** One Ctrl-C may come as several signals: the terminal tells all processes, and npm and tsx pass theirs on as well. */
const SAME_PRESS_MS = 500
/** Ctrl-C, what service managers send, and what a terminal says that is closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Resolves when somebody wants this process to end. Whoever insists, by another signal or by the same half a second
 * later, ends it at once.
 *
 * The listeners stay until then. Libraries that clean up at exit (signal-exit, which log-update and many others load)
 * end a process at a signal as soon as nobody else listens.
 */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    // To wait for a signal keeps no process alive, and servers of their own have nothing to do in this one.
    const alive = setInterval(() => undefined, VERY_LONG_MS)
    let first: { signal: string; at: number } | undefined
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        const now = performance.now()
        first ??= { signal, at: now }
        if (first.signal !== signal || now - first.at > SAME_PRESS_MS) {
          process.removeAllListeners(signal)
          process.kill(process.pid, signal)
        }
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
