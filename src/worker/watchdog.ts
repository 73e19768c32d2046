/**
 * Ends a process whose event loop stands still: no timer of that loop can. A thread looks on from outside, and counts
 * how often it wakes without a sign of life. It never reads a clock, so neither one that jumps, nor a machine that sleeps,
 * nor a process that was stopped is taken for a loop that stands still.
 */
import type * as fs from 'node:fs'
import { url as debuggerUrl } from 'node:inspector'
import type * as threads from 'node:worker_threads'
import { Worker } from 'node:worker_threads'
import type { StepWatch } from '../activities/deps.ts'
import { messageOf } from '../core/errors.ts'

export interface Watchdog extends StepWatch {
  stop(): Promise<void>
}

/** Signs of life, and looks for them: at least so many within the limit, and at most one a second. */
const LOOKS = 10
const LONGEST_TICK_MS = 1000
/** Names are models' words too. */
const NAME_SHOWN = 100

/** One thread for all workers of the process. */
let onlooker: { thread: Worker; alive: NodeJS.Timeout; workers: Set<symbol> } | undefined

/**
 * @param limitMs how long the loop may stand still, milliseconds; 0 = for ever. Where a process has several workers, that
 *   of the first counts
 * @param warn told when the thread itself ends
 */
export function startWatchdog(limitMs: number, warn: (message: string) => void): Watchdog {
  if (limitMs === 0) return { begun: () => undefined, ended: () => undefined, stop: async () => undefined }
  const { thread, alive, workers } = (onlooker ??= startOnlooker(limitMs, warn))
  const worker = Symbol('a worker of this process')
  workers.add(worker)
  return {
    begun: (id, name) => thread.postMessage({ id, name: name.slice(0, NAME_SHOWN) } satisfies News),
    ended: (id) => thread.postMessage({ id } satisfies News),
    async stop() {
      if (!workers.delete(worker) || workers.size > 0) return
      clearInterval(alive)
      if (onlooker?.thread === thread) onlooker = undefined
      await thread.terminate()
    },
  }
}

/** A step was begun, or, without a name, has ended. */
interface News {
  id: string
  name?: string
}

interface Watched {
  /** How often the loop was alive, and whether a debugger may hold it, which is no reason to end it. */
  signs: Int32Array<SharedArrayBuffer>
  tickMs: number
  limitMs: number
  listed: number
}

function startOnlooker(limitMs: number, warn: (message: string) => void): NonNullable<typeof onlooker> {
  const tickMs = Math.min(limitMs / LOOKS, LONGEST_TICK_MS)
  const signs = new Int32Array(new SharedArrayBuffer(8))
  const sign = (): void => {
    Atomics.add(signs, 0, 1)
    Atomics.store(signs, 1, debuggerUrl() === undefined ? 0 : 1)
  }
  sign()
  const alive = setInterval(sign, tickMs).unref()
  const workerData: Watched = { signs, tickMs, limitMs, listed: 10 }
  // Its text is the thread's module: found wherever this file is, as TypeScript, compiled or bundled. Some compilers
  // give functions their names by a helper.
  const source = `const __name = (named) => named; (${String(lookOn)})(require('node:worker_threads'), require('node:fs'))`
  const thread = new Worker(source, { eval: true, workerData, execArgv: [], name: 'stello-watchdog' })
  thread.on('error', (error) => warn(`an event loop that stands still is no longer noticed: ${messageOf(error)}`))
  thread.unref()
  return { thread, alive, workers: new Set() }
}

/** Runs in the thread, from its text: it can use nothing of this file but types. */
function lookOn({ parentPort, workerData }: typeof threads, { writeSync }: typeof fs): void {
  const { signs, tickMs, limitMs, listed } = workerData as Watched
  const inHand = new Map<string, string>()
  parentPort?.on(
    'message',
    ({ id, name }: News) => void (name === undefined ? inHand.delete(id) : inHand.set(id, name)),
  )
  let seen = 0
  let missed = 0
  setInterval(() => {
    const sign = Atomics.load(signs, 0)
    missed = sign === seen && Atomics.load(signs, 1) === 0 ? missed + 1 : 0
    seen = sign
    if (missed * tickMs < limitMs) return
    const steps = [...inHand].slice(0, listed).map(([id, name]) => `${id} (${JSON.stringify(name)})`)
    if (inHand.size > listed) steps.push(`${inHand.size - listed} more`)
    const line =
      `stello: the event loop of process ${process.pid} has stood still for ${limitMs / 1000} s. ` +
      `In hand: ${steps.join(', ') || 'no step'}. The process is killed, so that other workers take over; ` +
      'a step that is in hand at three such deaths is not run again.\n'
    try {
      writeSync(2, line)
    } finally {
      process.kill(process.pid, 'SIGKILL')
    }
  }, tickMs)
}
