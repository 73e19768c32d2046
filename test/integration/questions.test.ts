/** A tool that asks a person, in a real session. No worker waits, and the answer finds its call. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { InboxQuestion, SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { answerSignal, answerUpdate } from '../../src/protocol/temporal-messages.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { PersonQuestion } from '../../src/tool/person.ts'
import { fieldOf } from '../support/events.ts'
import { eventsUntil, useStello, type TestAgent } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'

const stello = useStello()
const workflow = ({ id }: SessionHandle) => stello.client.temporal.workflow.getHandle(id)

const COUNT: PersonQuestion = {
  message: 'How many seats?',
  header: 'Seats',
  schema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
}

interface Waiting {
  session: SessionHandle
  turn: TurnHandle
  item: InboxQuestion
  /** Replaces the worker by another one. */
  replaceWorker(): Promise<void>
}

/** A session whose tool asks for a region, and then for the number of seats. */
async function waiting(): Promise<Waiting> {
  const book = tool('book', 'Books', z.object({}), async (_, ctx) => {
    const { text } = await ctx.ask({ message: 'Which region?', options: [{ label: 'EU' }, { label: 'US' }] })
    const { values } = await ctx.ask(COUNT)
    return `${text} ${JSON.stringify(values)}`
  })
  const agent: TestAgent = {
    llm: scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'book' }] }],
        [({ role }) => role === 'tool', ({ messages }) => `booked: ${messages.at(-1)?.content}`],
      ]),
    ),
    capabilities: { tools: [book] },
  }
  let worker = await stello.work(agent)
  const name = worker.taskQueue
  const session = await stello.client.createSession({ agent: name, label: 'travel' })
  const turn = await session.send('go')
  const item = await questionOf(session)
  return {
    session,
    turn,
    item,
    async replaceWorker() {
      await worker.stop()
      worker = await stello.work({ ...agent, name })
    },
  }
}

async function questionOf(session: SessionHandle): Promise<InboxQuestion> {
  await viewOf(stello.client, session, ({ status }) => status === 'waiting')
  const [item] = await session.pending()
  return item as InboxQuestion
}

describe('a question of a tool', () => {
  it('is in the inbox with its options, outlives its worker, and is followed by the next', async () => {
    const { session, turn, item, replaceWorker } = await waiting()
    expect(await stello.client.inbox(session.id)).toEqual([item])
    expect(item).toMatchObject({
      kind: 'question',
      name: 'book',
      message: 'Which region?',
      form: { options: [{ label: 'EU' }, { label: 'US' }] },
    })
    await replaceWorker()
    await session.answer(item.id, { decision: 'answer', text: 'EU' })
    await eventsUntil(session, ({ type, data }) => type === 'pending.opened' && fieldOf(data, 'id') !== item.id)
    const next = await questionOf(session)
    expect(next).toMatchObject({ message: 'How many seats?', form: { header: 'Seats', schema: COUNT.schema } })
    await session.answer(next.id, { decision: 'answer', values: { count: 2 } })
    expect((await turn.result()).text).toBe('booked: EU {"count":2}')
  })

  it('refuses an answer that does not fit its form: the client at once, a signal by an event; the question stays open', async () => {
    const { session, turn, item } = await waiting()
    await workflow(session).executeUpdate(answerUpdate, { args: [{ id: item.id, decision: 'answer', text: 'US' }] })
    await eventsUntil(session, ({ type, data }) => type === 'pending.opened' && fieldOf(data, 'id') !== item.id)
    const { id } = await questionOf(session)
    const wrong = { decision: 'answer', values: { count: 'many' } } as const
    await expect(session.answer(id, wrong)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('count: must be integer') as string,
    })
    await workflow(session).signal(answerSignal, { id, ...wrong })
    const rejected = (await eventsUntil(session, ({ type }) => type === 'answer.rejected')).at(-1)
    expect(rejected?.data).toMatchObject({ id, reason: expect.stringContaining('count: must be integer') as string })
    await session.answer(id, { decision: 'answer', values: { count: 1 } })
    expect((await turn.result()).text).toBe('booked: US {"count":1}')
  })

  it('is closed with its turn', async () => {
    const { session, turn, item } = await waiting()
    await session.cancelTurn()
    expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
    expect(await stello.client.inbox(session.id)).toEqual([])
    await expect(session.answer(item.id, { decision: 'answer', text: 'EU' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('waits for an answer') as string,
    })
  })
})
