/**
 * Ends a process whose event loop stands still, which no timer of that loop can do. A thread watches from outside and
 * counts how often it wakes without a sign of life. It never reads a clock, so a clock that jumps, a machine that
 * sleeps or a process that was stopped is not mistaken for a loop that stands still.
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

/** How many signs of life, and looks for them, there are within the limit at least. There is at least one a second. */
const LOOKS = 10
const LONGEST_TICK_MS = 1000
/** Names may come from models. */
const NAME_SHOWN = 100

/** One thread for all workers of the process. */
let onlooker: { thread: Worker; alive: NodeJS.Timeout; workers: Set<symbol>; inHand: InHand } | undefined

/**
 * @param limitMs how long the loop may stand still, milliseconds; 0 = for ever. If a process has several workers,
 *   the limit of the first counts
 * @param warn called when the thread itself ends
 */
export function startWatchdog(limitMs: number, warn: (message: string) => void): Watchdog {
  if (limitMs === 0) return { begun: () => undefined, ended: () => undefined, stop: async () => undefined }
  const { thread, alive, workers, inHand } = (onlooker ??= startOnlooker(limitMs, warn))
  const worker = Symbol('a worker of this process')
  workers.add(worker)
  return {
    begun: (id, name) => inHand.add(id, name),
    ended: (id) => inHand.remove(id),
    async stop() {
      if (!workers.delete(worker) || workers.size > 0) return
      clearInterval(alive)
      if (onlooker?.thread === thread) onlooker = undefined
      await thread.terminate()
    },
  }
}

/** The steps in hand, written where the thread can read them: a message to it would cost each step ten times as much. */
interface InHand {
  add(id: string, name: string): void
  remove(id: string): void
}

/** How many steps in hand are written with their names; further ones are only counted. */
const PLACES = 256
/** Room for the id and the name of a step together. */
const PLACE_BYTES = 512

interface Watched {
  /** How often the loop was alive, and whether a debugger may hold it, which is no reason to end it. */
  signs: Int32Array<SharedArrayBuffer>
  /** How many steps are in hand, and how long the text in each place is; 0 = the place is free. */
  counts: Int32Array<SharedArrayBuffer>
  texts: Uint8Array<SharedArrayBuffer>
  placeBytes: number
  tickMs: number
  limitMs: number
  listed: number
}

function shareInHand(): Pick<Watched, 'counts' | 'texts' | 'placeBytes'> & { inHand: InHand } {
  const counts = new Int32Array(new SharedArrayBuffer(4 * (1 + PLACES)))
  const texts = new Uint8Array(new SharedArrayBuffer(PLACES * PLACE_BYTES))
  const bytes = Buffer.from(texts.buffer)
  const free = Array.from({ length: PLACES }, (_, place) => PLACES - 1 - place)
  const places = new Map<string, number | undefined>()
  const inHand: InHand = {
    add(id, name) {
      if (places.has(id)) return
      const place = free.pop()
      places.set(id, place)
      Atomics.store(counts, 0, places.size)
      if (place === undefined) return
      const text = `${id} (${JSON.stringify(name.slice(0, NAME_SHOWN))})`
      Atomics.store(counts, 1 + place, bytes.write(text, place * PLACE_BYTES, PLACE_BYTES))
    },
    remove(id) {
      if (!places.has(id)) return
      const place = places.get(id)
      places.delete(id)
      Atomics.store(counts, 0, places.size)
      if (place === undefined) return
      Atomics.store(counts, 1 + place, 0)
      free.push(place)
    },
  }
  return { counts, texts, placeBytes: PLACE_BYTES, inHand }
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
  const { inHand, ...shared } = shareInHand()
  const workerData: Watched = { signs, ...shared, tickMs, limitMs, listed: 10 }
  // Its text is the thread's module: found wherever this file is, as TypeScript, compiled or bundled. Some compilers
  // give functions their names by a helper.
  const source = `const __name = (named) => named; (${String(lookOn)})(require('node:worker_threads'), require('node:fs'))`
  const thread = new Worker(source, { eval: true, workerData, execArgv: [], name: 'stello-watchdog' })
  thread.on('error', (error) => warn(`an event loop that stands still is no longer noticed: ${messageOf(error)}`))
  thread.unref()
  return { thread, alive, workers: new Set(), inHand }
}

/** Runs in the thread, from its text: it can use nothing of this file but types. */
function lookOn({ workerData }: typeof threads, { writeSync }: typeof fs): void {
  const { signs, counts, texts, placeBytes, tickMs, limitMs, listed } = workerData as Watched
  let seen = 0
  let missed = 0
  setInterval(() => {
    const sign = Atomics.load(signs, 0)
    missed = sign === seen && Atomics.load(signs, 1) === 0 ? missed + 1 : 0
    seen = sign
    if (missed * tickMs < limitMs) return
    const steps: string[] = []
    for (let place = 0; place + 1 < counts.length && steps.length < listed; place++) {
      const length = Atomics.load(counts, 1 + place)
      const begin = place * placeBytes
      if (length > 0) steps.push(Buffer.from(texts.slice(begin, begin + length)).toString())
    }
    const all = Atomics.load(counts, 0)
    if (all > steps.length) steps.push(`${all - steps.length} more`)
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
