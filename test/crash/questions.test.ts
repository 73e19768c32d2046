/**
 * A worker gets SIGKILL while its tool waits for a person's answer, and between the answer and the run that gets it.
 * The tool's other side sees how often the tool went on.
 */
import { expect, it } from 'vitest'
import type { InboxQuestion, SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { replyBy } from '../../src/testing/index.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import { eventsUntil } from '../support/session-fixture.ts'
import type { WorkerProcess } from '../support/crashing.ts'

const TOOLS = ['poll', 'elect'] as const
type Tool = (typeof TOOLS)[number]

const stage = useCrashStage({
  script: replyBy([
    ['poll', { toolCalls: [{ name: 'poll' }] }],
    ['elect', { toolCalls: [{ name: 'elect' }] }],
    [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
  ]),
})

interface Asked {
  worker: WorkerProcess
  session: SessionHandle
  turn: TurnHandle
  item: InboxQuestion
  /** What the tool did, and with which answer. */
  done(): string[]
}

async function asked(tool: Tool): Promise<Asked> {
  const before = stage.doors.knocks.length
  const worker = await stage.startWorker()
  const session = await stage.session()
  const turn = await session.send(tool)
  await eventsUntil(session, ({ type }) => type === 'pending.opened')
  const [item] = await session.pending()
  return {
    worker,
    session,
    turn,
    item: item as InboxQuestion,
    done: () => stage.doors.knocks.slice(before).map((knock) => `${knock.tool} ${knock.tag}`),
  }
}

it.each(TOOLS)('between ask and answer: %s waits, and goes on once with the answer', async (tool) => {
  const { worker, session, turn, item, done } = await asked(tool)
  await worker.kill()
  await session.answer(item.id, { decision: 'answer', text: 'left' })
  await stage.startWorker()
  expect((await turn.result()).text).toBe(`read: ${tool} done`)
  expect(done()).toEqual([`${tool} left`])
  await stage.killWorkers()
})

it.each([
  // Nobody knows how far a call came if it was taken and must not be repeated. A call that was not taken has not begun.
  ['poll', 'letThrough'],
  ['poll', 'drop'],
  ['elect', 'drop'],
] as const)('between answer and run: %s runs once (%s)', async (tool, fate) => {
  const { worker, session, turn, item, done } = await asked(tool)
  const hold = await stage.holds.hold({ session: session.id, step: 't1.0.0', moment: 'retake' })
  await session.answer(item.id, { decision: 'answer', text: 'right' })
  await hold.reached()
  await worker.kill()
  await hold[fate]()
  expect(done()).toEqual([])
  await stage.startWorker()
  expect((await turn.result()).text).toBe(`read: ${tool} done`)
  expect(done()).toEqual([`${tool} right`])
  const told = (await eventsUntil(session, ({ type }) => type === 'turn.completed')).map(({ type }) => type)
  expect(told.filter((type) => type.startsWith('pending.'))).toEqual(['pending.opened', 'pending.closed'])
  await stage.killWorkers()
})
