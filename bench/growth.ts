/**
 * Whether late turns cost more than early ones. One session has a thousand turns of 8 KB, with its model in this
 * process.
 */
import type { WorkflowHandle } from '@temporalio/client'
import { emptyAgent } from './agent.ts'
import { median, type Values } from './figures.ts'
import { timed } from './turns.ts'
import { newName, type World } from './world.ts'

/** A question, two results and an answer: 8 KB per turn. */
const TEXT = 'x'.repeat(2 * 1024)
const LAST = 1000
/** A figure is the median of the turns that are at most this far from the turn in its name. */
const AROUND = 9
const TURNS = LAST + AROUND

export interface TurnCost {
  ms: number
  /** Unset if the session continued as new meanwhile. */
  bytes?: number
}

export async function measureGrowth(world: World): Promise<Values<'growth'>> {
  const name = newName('growth')
  const worker = await world.work(emptyAgent(name, TEXT))
  try {
    const takeTurn = await openGrowing(world, name)
    const costs: TurnCost[] = []
    while (costs.length < TURNS - (2 * AROUND + 1)) {
      if (costs.length % 100 === 0) world.say(`growth: turn ${costs.length} of ${TURNS}`)
      costs.push(await takeTurn())
    }
    // The last turns of the old session alternate with the first turns of a new one. A worker grows over time, and the
    // speed of a machine varies.
    const takeEarlyTurn = await openGrowing(world, name)
    const early: TurnCost[] = []
    while (costs.length < TURNS) {
      costs.push(await takeTurn())
      early.push(await takeEarlyTurn())
    }
    const ms = (some: TurnCost[]): number => median(some.map((cost) => cost.ms))
    const bytes = (turn: number): number =>
      median(costs.slice(turn - 1 - AROUND, turn + AROUND).flatMap((cost) => cost.bytes ?? []))
    return {
      history_bytes_per_turn_10: bytes(10),
      history_bytes_per_turn_100: bytes(100),
      history_bytes_per_turn_1000: bytes(LAST),
      history_bytes_1000_over_10: bytes(LAST) / bytes(10),
      turn_ms_1000_over_10: ms(costs.slice(-early.length)) / ms(early),
    }
  } finally {
    await worker.stop()
  }
}

/** @returns takes the session's next turn */
export async function openGrowing(world: World, agent: string): Promise<() => Promise<TurnCost>> {
  const session = await world.stello.createSession({ agent, label: 'growth' })
  const workflow = world.temporal.workflow.getHandle(session.id)
  let before = await historyOf(workflow)
  return async () => {
    const ms = await timed(async () => (await session.send(TEXT)).result())
    const after = await historyOf(workflow)
    const bytes = after.runId === before.runId ? after.bytes - before.bytes : undefined
    before = after
    return { ms, ...(bytes !== undefined && { bytes }) }
  }
}

async function historyOf(workflow: WorkflowHandle): Promise<{ runId: string; bytes: number }> {
  const { runId, historySize } = await workflow.describe()
  return { runId, bytes: historySize ?? 0 }
}
