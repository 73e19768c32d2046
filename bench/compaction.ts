/**
 * The cost of a conversation that is longer than its window: the time of our own code for 5,000 records, and turn 1,000
 * of a session.
 */
import { planCompaction } from '../src/activities/compaction/plan.ts'
import { rendered } from '../src/activities/compaction/rendered.ts'
import { makePrompt } from '../src/activities/model/prompt.ts'
import { roomOf } from '../src/activities/model/room.ts'
import type { Message } from '../src/index.ts'
import { emptyAgent, emptyModel } from './agent.ts'
import { median, type Values } from './figures.ts'
import { openGrowing } from './growth.ts'
import { newName, type World } from './world.ts'

const RECORDS = 5000
const TIMES = 20
/** A question, two results and an answer: 8 KB per turn, so that 40 turns fill the window. */
const TEXT = 'x'.repeat(2 * 1024)
const WINDOW = 100_000
const LAST = 1000
const AROUND = 9

export async function measureCompaction(world: World): Promise<Values<'compaction'>> {
  const name = newName('compaction')
  const worker = await world.work(emptyAgent(name, TEXT, { ...emptyModel(TEXT), contextWindow: WINDOW }))
  try {
    const takeTurn = await openGrowing(world, name)
    for (let turn = 1; turn < LAST; turn++) {
      if (turn % 100 === 0) world.say(`compaction: turn ${turn} of ${LAST}`)
      await takeTurn()
    }
    // These turns alternate with turns of a new session, because the speed of a machine varies.
    const takeEarlyTurn = await openGrowing(world, name)
    const [late, early]: [number[], number[]] = [[], []]
    for (let turn = 0; turn < 2 * AROUND + 1; turn++) {
      late.push((await takeTurn()).ms)
      early.push((await takeEarlyTurn()).ms)
    }
    return {
      compaction_5000_records_ms: ownWork(),
      compacted_turn_1000_ms: median(late),
      compacted_turn_1000_over_10: median(late) / median(early),
    }
  } finally {
    await worker.stop()
  }
}

/** Everything but the model and the store: the estimate, the shortened results, the cut, and the text to summarise. */
function ownWork(): number {
  const times = Array.from({ length: TIMES }, () => {
    // The objects are new, so no size of them is remembered from an earlier time.
    const messages = Array.from({ length: RECORDS }, (_, n): Message =>
      n % 2 === 0 ? { role: 'user', content: `${n} ${TEXT}` } : { role: 'assistant', content: `${n} ${TEXT}` },
    )
    const transcript = { messages, chain: '', branchOf: (seq: number) => ({ sessionId: 's', gen: 0, seq }) }
    const room = roomOf({ name: 'empty', contextWindow: WINDOW }, { at: 0.8, keep: 0.3 })
    const before = performance.now()
    makePrompt({ config: {}, transcript, tools: [], ...(room && { room }) })
    const plan = planCompaction(transcript, { keep: room?.keep ?? 0 })
    rendered(plan?.messages ?? [])
    return performance.now() - before
  })
  return median(times)
}
