/**
 * A process with a watchdog, for tests that block its event loop, also after some or all of its workers were stopped.
 */
import { startWatchdog } from '../../src/worker/watchdog.ts'

export interface WatchedSettings {
  limitMs: number
  /** How many steps are begun, one after another. */
  steps?: number
  /** How many of its two workers are stopped before `next`. */
  stopped?: number
  /** `answer`: sends each message back. `end`: does nothing more. */
  next: 'block' | 'answer' | 'end'
  /** How long the loop stands still; the process then ends with code 7. Default: until it is killed. */
  blockMs?: number
}

const { limitMs, steps = 0, stopped = 0, next, blockMs } = JSON.parse(process.argv[2] ?? '') as WatchedSettings
const warn = (message: string): void => void process.stderr.write(message)
const workers = [startWatchdog(limitMs, warn), startWatchdog(limitMs, warn)]
for (let n = 1; n <= steps; n++) workers[0]?.begun(`s-1/0/t1.0.${n}/1`, `tool ${n}\n`)
workers[0]?.begun('s-1/0/m1.0/1', 'model')
workers[0]?.ended('s-1/0/m1.0/1')
for (const worker of workers.slice(0, stopped)) await worker.stop()
if (next === 'block') {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs)
  process.exit(7)
}
if (next === 'answer') process.on('message', (message) => process.send?.(message))
process.send?.('ready')
if (next === 'end') process.disconnect()
