/**
 * Runs a function of a module in its own thread, which can be ended at any moment, even inside a regular expression. It
 * is for searches with patterns from a model or a repository, and never holds up the worker.
 */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { ThreadAnswer, ThreadWork } from './thread.ts'

export interface ThreadBounds {
  /** The limit counts from the start of the thread, without the time it waits for its turn. */
  timeoutMs: number
  signal: AbortSignal
}

/** Memory of one thread, in MiB. */
const HEAP_LIMIT = 256
/** How many run at once: each takes a core and its memory. */
const AT_ONCE = 4

/** The thread did not end within its time, or needed more than its memory. */
export class ThreadEnded extends Error {
  readonly why: 'time' | 'memory'

  constructor(why: 'time' | 'memory') {
    super(`ended for want of ${why}`)
    this.why = why
  }
}

let running = 0
const waiting = new Set<() => void>()

/**
 * Returns the result of the module's export `run`. Input and result are structured clones.
 *
 * @param module its URL, beside the caller: `new URL('./search.ts', import.meta.url)`, also where it is compiled
 * @throws ThreadEnded; the signal's reason; an Error with the message of what `run` threw
 */
export async function inThread<Result>(module: URL, input: unknown, bounds: ThreadBounds): Promise<Result> {
  await turn(bounds.signal)
  try {
    bounds.signal.throwIfAborted()
    return (await carryOut({ module: asLoaded(module).href, input }, bounds)) as Result
  } finally {
    running--
    waiting.values().next().value?.()
  }
}

async function turn(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  while (running >= AT_ONCE) {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
    if (signal.aborted) {
      // This call may have been given a turn that it no longer needs, so it passes the turn on.
      waiting.values().next().value?.()
      throw signal.reason
    }
  }
  running++
}

function carryOut(workerData: ThreadWork, { timeoutMs, signal }: ThreadBounds): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(beginning(), {
      workerData,
      eval: !compiled,
      execArgv: [],
      // The thread gets none of the worker's secrets.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_LIMIT },
    })
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      settle()
      void thread.terminate()
    }
    const stop = (): void => end(() => reject(signal.reason))
    const timer = setTimeout(() => end(() => reject(new ThreadEnded('time'))), timeoutMs)
    signal.addEventListener('abort', stop)
    thread.once('message', (answer: ThreadAnswer) =>
      end(() => ('error' in answer ? reject(new Error(answer.error)) : resolve(answer.value))),
    )
    thread.once('error', (error: NodeJS.ErrnoException) =>
      end(() => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadEnded('memory') : error)),
    )
    thread.once('exit', (code) => end(() => reject(new Error(`the thread ended by itself (${code})`))))
  })
}

/** The sources are TypeScript in a checkout and JavaScript in the package. */
const compiled = !import.meta.url.endsWith('.ts')

function asLoaded(url: URL): URL {
  return compiled ? new URL(url.href.replace(/\.ts$/, '.js')) : url
}

/** Node cannot read TypeScript by itself, and a thread does not inherit the loader of its process. */
function beginning(): URL | string {
  const module = asLoaded(new URL('./thread.ts', import.meta.url))
  if (compiled) return module
  // `resolve` finds the CommonJS file, whose registration does not work in a thread, so its .mjs is taken.
  const tsx = pathToFileURL(
    createRequire(import.meta.url)
      .resolve('tsx/esm/api')
      .replace(/\.cjs$/, '.mjs'),
  ).href
  return `import('${tsx}').then(({ register }) => (register(), import('${module.href}')))`
}
