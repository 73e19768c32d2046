/** Whether late turns cost more than early ones: one session of a thousand turns of 8 KB, model in this process. */
import type { WorkflowHandle } from '@temporalio/client'
import { emptyAgent } from './agent.ts'
import { median, type Figure } from './figures.ts'
import { timed } from './turns.ts'
import { newName, type World } from './world.ts'

const TURNS = 1010
/** Question, two results, answer: 8 KB per turn. */
const TEXT = 'x'.repeat(2 * 1024)
const AT = [10, 100, 1000] as const
/** A figure is the median of the turns this near to the one it is named after. */
const AROUND = 9

interface TurnCost {
  ms: number
  /** Unset where the session continued as new meanwhile. */
  bytes?: number
}

export async function measureGrowth(world: World): Promise<Figure[]> {
  const name = newName('growth')
  const worker = await world.work(emptyAgent(name, TEXT))
  const session = await world.stello.createSession({ agent: name, label: 'growth' })
  const workflow = world.temporal.workflow.getHandle(session.id)
  const costs: TurnCost[] = []
  try {
    let before = await historyOf(workflow)
    for (let turn = 1; turn <= TURNS; turn++) {
      if (turn % 100 === 0) world.say(`growth: turn ${turn} of ${TURNS}`)
      const ms = await timed(async () => (await session.send(TEXT)).result())
      const after = await historyOf(workflow)
      costs.push({ ms, ...(after.runId === before.runId && { bytes: after.bytes - before.bytes }) })
      before = after
    }
  } finally {
    await worker.stop()
  }
  const near = (turn: number): TurnCost[] => costs.slice(Math.max(0, turn - 1 - AROUND), turn + AROUND)
  const ms = (turn: number): number => median(near(turn).map((cost) => cost.ms))
  const bytes = (turn: number): number => median(near(turn).flatMap((cost) => cost.bytes ?? []))
  return [
    ...AT.map((turn) => ({ row: `history_bytes_per_turn_${turn}`, value: bytes(turn), unit: 'bytes' })),
    { row: 'history_bytes_1000_over_10', value: bytes(1000) / bytes(10), unit: 'ratio', aim: { atMost: 1.1 } },
    { row: 'turn_ms_1000_over_10', value: ms(1000) / ms(10), unit: 'ratio', aim: { atMost: 1.3 } },
  ]
}

async function historyOf(workflow: WorkflowHandle): Promise<{ runId: string; bytes: number }> {
  const { runId, historySize } = await workflow.describe()
  return { runId, bytes: historySize ?? 0 }
}
