/** The longest that a timer of Node can be set to. */
const VERY_LONG_MS = 2 ** 31 - 1
/**
 * One Ctrl-C may arrive as several signals: the terminal sends it to all processes, and npm and tsx pass theirs on too.
 */
const SAME_PRESS_MS = 500
/** Ctrl-C, the signal of service managers, and the signal of a terminal that is closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The code of the error of writing to a terminal that has been closed. */
export const TERMINAL_GONE = 'EIO'

/**
 * Resolves when somebody wants this process to end. Another signal, or the same one half a second later, ends it at
 * once, because somebody insists. A SIGHUP never does: a terminal that is closed sends it late, several times, or after
 * a Ctrl-C. A write to a closed terminal (`EIO`) is no error: the process must still stop what it has started.
 *
 * The listeners stay until the process ends. Libraries that clean up at exit (signal-exit, which log-update and many others load)
 * end a process at a signal as soon as nobody else listens.
 */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    // Waiting for a signal keeps no process alive, so a timer does: the servers are processes of their own.
    const alive = setInterval(() => undefined, VERY_LONG_MS)
    for (const stream of [process.stdout, process.stderr])
      stream.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== TERMINAL_GONE) throw error
      })
    let first: { signal: string; at: number } | undefined
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        const now = performance.now()
        first ??= { signal, at: now }
        if (signal !== 'SIGHUP' && (first.signal !== signal || now - first.at > SAME_PRESS_MS)) {
          process.removeAllListeners(signal)
          process.kill(process.pid, signal)
        }
        clearInterval(alive)
        resolve()
      })
    }
  })
}

/** The same as an abort signal: it ends waiting and watching, and the sessions go on. */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController()
  void interrupted().then(() => controller.abort())
  return controller.signal
}
