/**
 * Many more signals than a session takes, with a worker and without one. Nothing is forgotten. The run stays within
 * Temporal's limit of 51,200 events. Neither a resume nor a turn waits until all signals have been refused.
 */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { QUEUE_LIMIT } from '../../src/session/state.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { runsOf } from '../support/runs.ts'
import { eventOf, useStello } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'
import { until } from '../support/until.ts'

/** A loaded machine must be able to process the waiting signals within one workflow task. */
const BURST = 2000
const AT_ONCE = 100
const stello = useStello()
const agent = { llm: scriptedModel(({ messages }) => `answer to ${messages.at(-1)?.content}`) }
const id = (i: number): string => `m${i}`

/** Sends that many signals, some at a time. The signals of one lane keep their order. */
async function signals(session: SessionHandle, count: number, send: (i: number) => [string, unknown?]): Promise<void> {
  const workflow = stello.client.temporal.workflow.getHandle(session.id)
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      const [name, input] = send(next++)
      await workflow.signal(name, ...(input === undefined ? [] : [input]))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

const messages = (session: SessionHandle, count: number): Promise<void> =>
  signals(session, count, (i) => ['message', { messageId: id(i), text: id(i) }])

/** The activities of all its runs that were scheduled to tell something. */
async function told(session: SessionHandle): Promise<number> {
  const runs = await runsOf(stello, session)
  return runs
    .flatMap(({ events }) => events)
    .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'announce').length
}

async function count(session: SessionHandle, type: string): Promise<number> {
  const asked = 'select count(*)::int as n from events where session_id = $1 and type = $2'
  const { rows } = await stello.db.pool.query<{ n: number }>(asked, [session.id, type])
  return rows[0]?.n ?? 0
}

async function ids(session: SessionHandle, sql: string): Promise<number[]> {
  const { rows } = await stello.db.pool.query<{ id: string }>(sql, [session.id])
  return rows.map((row) => Number(row.id.slice(1))).toSorted((a, b) => a - b)
}

/** Every message was either answered or refused, and none was both. */
async function expectEachHeard(session: SessionHandle, sent: number): Promise<void> {
  const refused = await ids(
    session,
    `select data->>'messageId' as id from events
                                      where session_id = $1 and type = 'message.rejected'`,
  )
  const answered = await ids(session, `select message_id as id from turns where session_id = $1 and status = 'ended'`)
  expect([...refused, ...answered].toSorted((a, b) => a - b)).toEqual(Array.from({ length: sent }, (_, i) => i))
}

it('2,000 messages that came to a paused session while no worker ran', async () => {
  const name = `burst-${randomBytes(4).toString('hex')}`
  const session = await stello.client.createSession({ agent: name })
  await session.pause()
  await messages(session, BURST)
  await stello.work({ ...agent, name })
  const refused = session.turn(id(BURST - 1)).result()
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
  expect((await session.state()).state).toBe('paused')
  await session.resume()
  expect((await session.turn(id(0)).result()).text).toBe(`answer to ${id(0)}`)
  await until('all are refused', async () => (await count(session, 'message.rejected')) === BURST - QUEUE_LIMIT)
  expect(await told(session)).toBeLessThan(60)
  await session.close()
  await eventOf(session, 'session.closed')
  await expectEachHeard(session, BURST)
})

it('3,000 messages to a paused session with a running worker: it goes on when it is resumed', async () => {
  const sent = 3000
  const session = await stello.session(agent)
  await session.pause()
  await eventOf(session, 'session.paused')
  const sending = messages(session, sent)
  await until('messages are refused', async () => (await count(session, 'message.rejected')) > 0)
  await session.resume()
  expect((await session.turn(id(0)).result()).text).toBe(`answer to ${id(0)}`)
  await sending
  const heard = async (): Promise<number> =>
    (await count(session, 'message.rejected')) + (await count(session, 'turn.completed'))
  await until('all are heard', async () => (await heard()) === sent)
  await expectEachHeard(session, sent)
  const announced = await told(session)
  expect(announced).toBeLessThan((await count(session, 'message.rejected')) / 3)
  await session.close()
})

it('2,000 pauses and resumes one after another, and as many answers to questions that nobody asked', async () => {
  const session = await stello.session(agent)
  const workflow = stello.client.temporal.workflow.getHandle(session.id)
  await signals(session, 4000, (i) =>
    i % 2 === 0 ? [i % 4 === 0 ? 'pause' : 'resume'] : ['answer', { id: `t1.0.0@0.${i}`, decision: 'done' }],
  )
  // Whatever came last: a pause keeps its first reason until a resume.
  await workflow.signal('resume')
  await workflow.signal('pause', 'the last')
  await viewOf(stello.client, session, ({ pause }) => pause?.message === 'the last')
  await workflow.signal('resume')
  await session.send('hello', { messageId: 'hello' })
  expect((await session.turn('hello').result()).text).toBe('answer to hello')
  await until('all are refused', async () => (await count(session, 'answer.rejected')) === 2000)
  expect(await told(session)).toBeLessThan(1500)
  await session.close()
})
