/**
 * Decides by a seed who dies after how many marks, and starts servers again. The keeper of the workers replaces them.
 */
import type { OwnServers, Server } from '../../support/own-servers.ts'
import type { Random } from './random.ts'
import type { KeptWorkers } from './workers.ts'
import type { World } from './world.ts'

export type Target = 'worker' | Server

/** What a shot hits, with how often it does in a hundred shots. */
const SHOTS: [Target[], number][] = [
  [['worker'], 74],
  [['worker', 'worker'], 10],
  [['temporal'], 5],
  [['postgres'], 5],
  [['temporal', 'worker'], 2],
  [['postgres', 'worker'], 2],
  [['temporal', 'postgres'], 2],
]

export interface Span {
  from: number
  until: number
}

export interface Killing {
  random: Random
  world: World
  servers: OwnServers
  workers: KeptWorkers
  kills: number
  /** Roughly how much of the work is left, in marks. */
  left(): number
  /** Resolves when no step that has killed two takers is in hand. A third death would rightly end such a step. */
  spared(): Promise<unknown>
  /** Work that needs living servers waits until they are started again, and kills of servers wait for such work. */
  calmly(work: () => Promise<void>): Promise<void>
  onShot(killed: number, targets: readonly Target[]): void
  /** Servers were away from a moment before their kill until they are there again. Both are milliseconds by the clock. */
  onBack(servers: readonly Server[], away: Span): void
  signal: AbortSignal
}

/** @returns how many of each were killed; fewer than wanted if the work was over before */
export async function killAtRandom(killing: Killing): Promise<Record<Target, number>> {
  const { random, world, servers, workers, kills, signal } = killing
  const killed: Record<Target, number> = { worker: 0, temporal: 0, postgres: 0 }
  const total = (): number => killed.worker + killed.temporal + killed.postgres
  const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

  const shoot = async (targets: Target[]): Promise<void> => {
    const dying = targets.filter((target) => target !== 'worker')
    const from = Date.now()
    const dead = await Promise.all([
      ...targets.filter((target) => target === 'worker').map(() => workers.kill(random)),
      ...(dying.length > 0 ? [servers.kill(...dying)] : []),
    ])
    killed.worker += dead.filter((died) => died === true).length
    for (const server of dying) killed[server]++
    killing.onShot(total(), targets)
    if (dying.length === 0) return
    await servers.start()
    killing.onBack(dying, { from, until: Date.now() })
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
