/** Keeps a number of worker processes alive, as a process manager does: a process that ends is replaced at once. */
import type { WorkerProcess } from '../../support/crashing.ts'
import type { Random } from './random.ts'

export interface KeptWorkers {
  /** Sends SIGKILL to one of them, and prefers one that serves to one that is starting. @returns whether one lived */
  kill(random: Random): Promise<boolean>
  /** Workers that served and then ended although nobody killed them. There must be none. */
  readonly quitters: readonly number[]
  close(): Promise<void>
}

interface Slot {
  worker: WorkerProcess
  serving: boolean
  killed: boolean
}

export function keepWorkers(count: number, spawn: () => WorkerProcess): KeptWorkers {
  const slots = new Set<Slot>()
  const quitters: number[] = []
  let closing = false

  const keep = async (): Promise<void> => {
    while (!closing) {
      const slot: Slot = { worker: spawn(), serving: false, killed: false }
      slots.add(slot)
      slot.worker.ready.then(
        () => (slot.serving = true),
        () => undefined,
      )
      await slot.worker.ended
      slots.delete(slot)
      if (slot.serving && !slot.killed && !closing) quitters.push(slot.worker.pid)
    }
  }
  const kept = Promise.all(Array.from({ length: count }, keep))
  const kill = async (slot: Slot): Promise<void> => {
    slot.killed = true
    await slot.worker.kill()
  }
  return {
    quitters,
    async kill(random) {
      const living = [...slots].filter(({ killed }) => !killed)
      const serving = living.filter((slot) => slot.serving)
      const from = serving.length > 0 && random.int(1, 5) > 1 ? serving : living
      if (from.length > 0) await kill(random.pick(from))
      return from.length > 0
    },
    async close() {
      closing = true
      await Promise.all([...slots].map(kill))
      await kept
    },
  }
}
