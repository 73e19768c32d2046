/**
 * Runs a function of a module in a thread of its own, which can be ended at any moment, in the middle of a regular
 * expression too: for searches by what a model or a repository wrote. Nothing of it holds up the worker.
 */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { ThreadAnswer, ThreadWork } from './thread.ts'

export interface ThreadBounds {
  /** From the start of the thread; how long it waits for its turn does not count. */
  timeoutMs: number
  signal: AbortSignal
}

/** Of one thread, in MiB. */
const HEAP_LIMIT = 256
/** Others wait: each takes a core and its memory. */
const AT_ONCE = 4

/** The thread came to no end within its time, or its memory. */
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
 * What the module's export `run` makes of the input; both are structured clones.
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
      // The turn may have been meant for this one.
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
      // Nothing of the worker's secrets.
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

/** Sources are TypeScript in a checkout and JavaScript in the package. */
const compiled = !import.meta.url.endsWith('.ts')

function asLoaded(url: URL): URL {
  return compiled ? new URL(url.href.replace(/\.ts$/, '.js')) : url
}

/** Node reads no TypeScript by itself, and a thread does not inherit what its process was told about it. */
function beginning(): URL | string {
  const module = asLoaded(new URL('./thread.ts', import.meta.url))
  if (compiled) return module
  // Resolved as for `require`, of which the registration does not work in a thread.
  const tsx = pathToFileURL(
    createRequire(import.meta.url)
      .resolve('tsx/esm/api')
      .replace(/\.cjs$/, '.mjs'),
  ).href
  return `import('${tsx}').then(({ register }) => (register(), import('${module.href}')))`
}
