/** Whether late turns cost more than early ones: one session of a thousand turns of 8 KB, model in this process. */
import type { WorkflowHandle } from '@temporalio/client'
import { emptyAgent } from './agent.ts'
import { median, type Figure } from './figures.ts'
import { timed } from './turns.ts'
import { newName, type World } from './world.ts'

/** Question, two results, answer: 8 KB per turn. */
const TEXT = 'x'.repeat(2 * 1024)
const AT = [10, 100, 1000] as const
/** A figure is the median of the turns this near to the one it is named after. */
const AROUND = 9
const TURNS = AT[2] + AROUND

interface TurnCost {
  ms: number
  /** Unset where the session continued as new meanwhile. */
  bytes?: number
}

export async function measureGrowth(world: World): Promise<Figure[]> {
  const name = newName('growth')
  const worker = await world.work(emptyAgent(name, TEXT))
  try {
    const takeTurn = await openSession(world, name)
    const costs: TurnCost[] = []
    while (costs.length < TURNS - (2 * AROUND + 1)) {
      if (costs.length % 100 === 0) world.say(`growth: turn ${costs.length} of ${TURNS}`)
      costs.push(await takeTurn())
    }
    // The last turns of the old session by turns with the first of a new one: a worker grows faster with time, a machine varies.
    const takeEarlyTurn = await openSession(world, name)
    const early: TurnCost[] = []
    while (costs.length < TURNS) {
      costs.push(await takeTurn())
      early.push(await takeEarlyTurn())
    }
    const ms = (some: TurnCost[]): number => median(some.map((cost) => cost.ms))
    const bytes = (turn: number): number =>
      median(costs.slice(turn - 1 - AROUND, turn + AROUND).flatMap((cost) => cost.bytes ?? []))
    return [
      ...AT.map((turn) => ({ row: `history_bytes_per_turn_${turn}`, value: bytes(turn), unit: 'bytes' })),
      { row: 'history_bytes_1000_over_10', value: bytes(1000) / bytes(10), unit: 'ratio', aim: { atMost: 1.1 } },
      {
        row: 'turn_ms_1000_over_10',
        value: ms(costs.slice(-early.length)) / ms(early),
        unit: 'ratio',
        aim: { atMost: 1.3 },
      },
    ]
  } finally {
    await worker.stop()
  }
}

/** @returns takes the session's next turn */
async function openSession(world: World, agent: string): Promise<() => Promise<TurnCost>> {
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
