/** Decides by a seed who dies how many marks later, and starts servers again. Workers are replaced by their keeper. */
import type { OwnServers, Server } from '../../support/own-servers.ts'
import type { Random } from './random.ts'
import type { KeptWorkers } from './workers.ts'
import type { World } from './world.ts'

export type Target = 'worker' | Server

/** Each of a hundred shots, by how often. */
const SHOTS: [Target[], number][] = [
  [['worker'], 74],
  [['worker', 'worker'], 10],
  [['temporal'], 5],
  [['postgres'], 5],
  [['temporal', 'worker'], 2],
  [['postgres', 'worker'], 2],
  [['temporal', 'postgres'], 2],
]

export interface Killing {
  random: Random
  world: World
  servers: OwnServers
  workers: KeptWorkers
  kills: number
  /** How much of the work is left, in marks, roughly. */
  left(): number
  /** Resolves when no step is in hand that has killed two takers: a third death would end it, as it should. */
  spared(): Promise<unknown>
  /** Work that must meet living servers waits for these to be started again, and the other way round. */
  calmly(work: () => Promise<void>): Promise<void>
  onShot(killed: number, targets: readonly Target[]): void
  signal: AbortSignal
}

/** @returns how many of each were killed; fewer than asked for when the work was over before */
export async function killAtRandom(killing: Killing): Promise<Record<Target, number>> {
  const { random, world, servers, workers, kills, signal } = killing
  const killed: Record<Target, number> = { worker: 0, temporal: 0, postgres: 0 }
  const total = (): number => killed.worker + killed.temporal + killed.postgres
  const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

  const shoot = async (targets: Target[]): Promise<void> => {
    const dying = targets.filter((target) => target !== 'worker')
    const dead = await Promise.all([
      ...targets.filter((target) => target === 'worker').map(() => workers.kill(random)),
      ...(dying.length > 0 ? [servers.kill(...dying)] : []),
    ])
    killed.worker += dead.filter((died) => died === true).length
    for (const server of dying) killed[server]++
    killing.onShot(total(), targets)
    if (dying.length > 0) await servers.start()
  }
  while (total() < kills) {
    const mean = Math.max(1, Math.floor(killing.left() / (kills - total())))
    await Promise.race([world.marked(random.int(1, 2 * mean - 1)), over])
    if (signal.aborted) break
    await killing.spared()
    const targets = choose(random)
    if (targets.every((target) => target === 'worker')) await shoot(targets)
    else await killing.calmly(() => shoot(targets))
  }
  return killed
}

function choose(random: Random): Target[] {
  let n = random.int(1, 100)
  for (const [targets, weight] of SHOTS) {
    n -= weight
    if (n <= 0) return targets
  }
  return ['worker']
}
