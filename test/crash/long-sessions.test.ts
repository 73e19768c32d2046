/**
 * Nothing is lost in sessions with many runs, while messages arrive by signal and update, some of them twice. Nothing
 * is doubled, watchers and callers notice nothing, and no run grows. With `STELLO_CRASH=all`: a thousand turns.
 */
import { ServiceError, isGrpcServiceError } from '@temporalio/client'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle, StelloEvent, TurnHandle, TurnResult } from '../../src/client/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { messageUpdate } from '../../src/protocol/temporal-messages.ts'
import { runsOf, type Run } from '../support/runs.ts'
import { eventsUntil, useStello } from '../support/session-fixture.ts'
import { startTemporalWith } from '../support/temporal.ts'
import { fieldOf } from '../support/events.ts'

/** The number of events after which the server asks for another run. */
const RUN_EVENTS = 200
const MANY = process.env['STELLO_CRASH'] === 'all' ? 1000 : 60
const TIMEOUT = MANY * 3000
/** A status code of gRPC. */
const FAILED_PRECONDITION = 9
const stello = useStello(() => startTemporalWith([`limit.historyCount.suggestContinueAsNew=${RUN_EVENTS}`]))
const numbers = (length: number, first = 0): number[] => Array.from({ length }, (_, n) => n + first)

/** By signal or by update. Some are sent both ways, as a client does that got no reply to the first. */
async function send(session: SessionHandle, text: string, n: number): Promise<TurnHandle> {
  const bySignal = (): Promise<unknown> => session.send(text, { messageId: text })
  const byUpdate = (): Promise<unknown> => update(session.id, text)
  const [one, other] = n % 2 === 0 ? [bySignal, byUpdate] : [byUpdate, bySignal]
  await one()
  if (n % 5 === 0) await other()
  return session.turn(text)
}

/** Temporal refuses an update that arrives at the moment in which a run ends, and says so. The sender repeats it. */
async function update(id: string, text: string): Promise<void> {
  const workflow = stello.client.temporal.workflow.getHandle(id)
  try {
    await workflow.executeUpdate(messageUpdate, { args: [{ messageId: text, text }] })
  } catch (error) {
    const cause = error instanceof ServiceError ? error.cause : undefined
    if (!isGrpcServiceError(cause) || cause.code !== FAILED_PRECONDITION) throw error
    await update(id, text)
  }
}

function expectGapless(events: StelloEvent[], turns: number): void {
  expect(events.map(({ offset }) => offset)).toEqual(numbers(events.length))
  const begunAndEnded = events.filter(({ type }) => type === 'turn.started' || type === 'turn.completed')
  expect(begunAndEnded.map(({ type, data }) => [type, fieldOf(data, 'turn')])).toEqual(
    numbers(turns, 1).flatMap((turn) => [
      ['turn.started', turn],
      ['turn.completed', turn],
    ]),
  )
  expect(events.filter(({ type }) => type === 'message.rejected')).toEqual([])
}

/** Each run but the last one ended by continuing as new with nothing under way, and none is larger than the others. */
function expectQuietAndBounded(runs: Run[], least: number): void {
  expect(runs.length).toBeGreaterThan(least)
  const continued = runs.slice(0, -1)
  for (const { events } of continued) {
    expect(events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes).toBeTruthy()
    const count = (fits: (event: Run['events'][number]) => unknown): number => events.filter(fits).length
    expect(count((event) => event.activityTaskScheduledEventAttributes)).toBe(
      count((event) => event.activityTaskCompletedEventAttributes),
    )
    expect(count((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toBe(
      count((event) => event.workflowExecutionUpdateCompletedEventAttributes),
    )
  }
  const median = continued.map(({ bytes }) => bytes).toSorted((a, b) => a - b)[Math.floor(continued.length / 2)] ?? 0
  expect(Math.max(...runs.map(({ bytes }) => bytes))).toBeLessThan(2 * median)
  expect(Math.max(...runs.map(({ events }) => events.length))).toBeLessThan(2 * RUN_EVENTS)
  expect(Math.max(...runs.map(({ input }) => JSON.stringify(input).length))).toBeLessThan(64 * 1024)
}

it(
  `answers ${MANY} turns in order, each once`,
  async () => {
    const SENDERS = 4
    /** The answers that a sender may wait for. They are fewer than the messages that may wait in a session. */
    const AHEAD = 10
    const llm = scriptedModel(({ messages }) => `to ${messages.at(-1)?.content}`)
    const session = await stello.session({ llm })
    const watched = eventsUntil(session, ({ type, data }) => type === 'turn.completed' && data['turn'] === MANY)
    const sender = async (who: number): Promise<string[]> => {
      const results: Promise<TurnResult>[] = []
      for (const n of numbers(MANY / SENDERS)) {
        await results[n - AHEAD]
        const turn = await send(session, `${who}/${n}`, n)
        results.push(turn.result())
      }
      return (await Promise.all(results)).map(({ text }) => text)
    }
    const answers = await Promise.all(numbers(SENDERS).map(sender))
    const sent = numbers(SENDERS).map((who) => numbers(MANY / SENDERS).map((n) => `${who}/${n}`))
    expect(answers).toEqual(sent.map((texts) => texts.map((text) => `to ${text}`)))
    const transcript = await session.transcript()
    expect(transcript).toHaveLength(2 * MANY)
    const asked = transcript.filter(({ role }) => role === 'user').map(({ content }) => content)
    expect(numbers(SENDERS).map((who) => asked.filter((text) => text.startsWith(`${who}/`)))).toEqual(sent)
    expect(llm.calls).toHaveLength(MANY)
    expectGapless(await watched, MANY)
    const runs = await runsOf(stello, session)
    expectQuietAndBounded(runs, MANY / 30)
    expect(runs.filter(({ input }) => input.state && !input.state.turn).length).toBeGreaterThan(0)
  },
  TIMEOUT,
)

it(
  `answers a turn of ${MANY} rounds, and the messages that came meanwhile`,
  async () => {
    /** A message is sent after every so many rounds. They are fewer than the messages that may wait in a session. */
    const EVERY = Math.ceil(MANY / 40)
    const turns = 1 + Math.ceil(MANY / EVERY)
    const ran: number[] = []
    const waiting: Promise<TurnHandle>[] = []
    const work = tool('work', 'Works', z.object({ n: z.number() }), ({ n }) => {
      ran.push(n)
      if (n % EVERY === 0) waiting.push(send(session, `message ${waiting.length}`, waiting.length))
      return `${n} done`
    })
    const llm = scriptedModel(({ messages }) => {
      const last = messages.at(-1)?.content ?? ''
      const n = messages.filter(({ role }) => role === 'tool').length
      if (last.startsWith('message')) return `to ${last}`
      return n < MANY ? { toolCalls: [{ name: 'work', arguments: { n } }] } : 'all done'
    })
    const session = await stello.session({ llm, maxToolRounds: MANY, capabilities: { tools: [work] } })
    const watched = eventsUntil(session, ({ type, data }) => type === 'turn.completed' && data['turn'] === turns)
    const turn = await session.send('go')
    expect(await turn.result()).toMatchObject({ text: 'all done', rounds: MANY })
    expect(ran).toEqual(numbers(MANY))
    const answers = await Promise.all(waiting.map(async (sent) => (await (await sent).result()).text))
    expect(answers).toEqual(numbers(waiting.length).map((n) => `to message ${n}`))
    expectGapless(await watched, turns)
    expect(await session.transcript()).toHaveLength(2 + 2 * MANY + 2 * waiting.length)
    const runs = await runsOf(stello, session)
    expectQuietAndBounded(runs, MANY / 30)
    const between = runs.map(({ input }) => input.state?.turn).filter((open) => open?.n === 1)
    expect(between.length).toBeGreaterThan(MANY / 30)
    expect(between.filter((open) => open?.running || open?.calls.some(({ status }) => status === 'running'))).toEqual(
      [],
    )
  },
  TIMEOUT,
)
