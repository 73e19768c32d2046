import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { preview } from '../../../src/core/message.ts'
import {
  ERRORS_LIMIT,
  FORKS_SHOWN,
  QUEUE_LIMIT,
  REFUSALS_CARRIED,
  REPORTS_LIMIT,
  SEEN_LIMIT,
  STATS_LIMIT,
  TIMEOUTS_LIMIT,
  initialState,
  notTaken,
  type SessionState,
} from '../../../src/session/state.ts'
import { INLINE_TEXT_LIMIT } from '../../../src/protocol/limits.ts'
import type { CallRef, ChildStart } from '../../../src/protocol/steps.ts'
import type { Refusal } from '../../../src/protocol/announcements.ts'
import { addToolResult } from '../../../src/session/stats.ts'
import {
  asks,
  bytes,
  callRef,
  child,
  message,
  model,
  only,
  open,
  opened,
  pause,
  play,
  result,
  timeout,
  tool,
  types,
} from './play.ts'

/** Three bytes each. */
const wide = (length: number): string => '東'.repeat(length)
const name = (i: number, length: number): string => `${i}`.padEnd(length, '-')
/** Of so many bytes. */
const wideName = (i: number, length: number): string =>
  name(i, 4 + ((length - 4) % 3)) + wide(Math.floor((length - 4) / 3))
const KEY = 't123456.12345.127'
/** As large as the step of the model passes it on: `test/unit/activities/model-answer.test.ts`. */
const hugeCall = (i: number): CallRef =>
  callRef(wideName(i, 64), {
    id: wideName(i, 68),
    title: wideName(i, 40),
    preview: wideName(i, 100),
    route: 'task',
    timeoutMs: 123_456_789,
  })
/** As large as a refusal can be. */
const refusalOf = (i: number): Refusal => ({
  type: 'message.rejected',
  data: { reason: wideName(i, 160), preview: wideName(i, 100), messageId: wideName(i, 128) },
})
const hugeChild = (i: number): ChildStart => ({
  sessionId: name(i, 100),
  config: { agent: 'a', label: wide(5000) },
})
const many = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i))

describe('the state is bounded', () => {
  it('forgets the oldest message ids', () => {
    const dropped = many(SEEN_LIMIT + 10, (i): Input[] => [
      message(`m${i}`),
      model(1, 0, { kind: 'duplicate', gen: 0 }),
    ])
    const { state } = play(opened(), ...dropped.flat())
    expect(state.seen).toHaveLength(SEEN_LIMIT)
    expect(play(state, message('m10')).commands).toEqual([])
    expect(types(play(state, message('m9')).commands)).toEqual(['callModel'])
  })

  it('refuses messages for good, in public, if too many wait', () => {
    const full = play(play(opened(), pause).state, ...many(QUEUE_LIMIT, (i) => message(`m${i}`)))
    const refused = play(full.state, message('one-more'))
    expect(refused.state.queue).toHaveLength(QUEUE_LIMIT)
    expect(only(refused.commands, 'announce')[0]?.input.events).toMatchObject([{ type: 'message.rejected' }])
    expect(play({ ...refused.state, queue: [] }, message('one-more')).commands).toEqual([])
  })

  it('begins with as many messages as an earlier run may have taken, and leaves the others to be refused or not', () => {
    const session = { sessionId: 's-1', label: 'demo', messages: Array.from({ length: 1000 }, (_, i) => `m${i}`) }
    const { queue, seen } = initialState(session)
    const rest = notTaken(session)
    expect([queue.length, seen.length]).toEqual([QUEUE_LIMIT + 1, SEEN_LIMIT])
    expect([...queue.map(({ messageId }) => messageId), ...rest]).toEqual(session.messages)
  })

  it('keeps the last reports of children nobody waits for', () => {
    const report = (i: number): Input => ({
      type: 'childReported',
      report: { childId: `s-${i}`, childGen: 0, childTurn: 1, callKey: 't9.9.9' },
    })
    const { state } = play(opened(), ...many(REPORTS_LIMIT + 10, report))
    expect(state.reports).toHaveLength(REPORTS_LIMIT)
    expect(state.reports.at(-1)?.childId).toBe(`s-${REPORTS_LIMIT + 9}`)
  })

  it('counts the time-outs of the last tools', () => {
    const names = many(TIMEOUTS_LIMIT + 10, (i) => `tool-${i}`)
    const asked = play(opened(), message('a'), asks(1, 0, 2, ...names))
    const { state } = play(asked.state, ...names.map((_, i) => tool(1, 0, i, timeout)))
    expect(Object.keys(state.timeouts)).toEqual(names.slice(10))
  })

  it('shows the last forks', () => {
    const forks = FORKS_SHOWN + 5
    const asked = play(
      opened(),
      message('a'),
      asks(1, 0, 2, ...many(forks, () => callRef('new_task', { route: 'task' }))),
    )
    const { state } = play(
      asked.state,
      ...many(forks, (i) => tool(1, 0, i, { kind: 'childOpened', gen: 0, child: child(`s-${i}`) })),
    )
    expect(state.forks).toHaveLength(FORKS_SHOWN)
    expect(state.forks.at(-1)?.id).toBe(`s-${forks - 1}`)
  })

  it('keeps the text of the one call that ends the turn, whichever result comes first', () => {
    const calls = many(128, (i) => callRef(`done-${i}`))
    const texts = (...order: number[]): string[] =>
      play(
        play(opened(), message('a'), asks(1, 0, 2, ...calls, 'look')).state,
        ...order.map((i) => tool(1, 0, i, result({ endsTurn: true, preview: `text ${i}` }))),
      ).state.turn?.calls.flatMap((call) => call.result?.preview || []) ?? []
    expect(texts(3, 1, 2)).toEqual(['text 1'])
    expect(texts(1, 2)).toEqual(['text 1'])
  })

  it('stays under 256 KB with everything full at once, in any script', () => {
    const session = {
      sessionId: name(0, 100),
      label: wide(1000),
      awaited: { parentId: name(0, 100), callKey: KEY },
      tells: { parentId: name(0, 100), notifies: true as const },
    }
    const counted = many(STATS_LIMIT, (i) => wideName(i, 64)).reduce(
      (state, toolName, i) =>
        addToolResult(state, toolName, result({ durationMs: 123_456_789.123, isError: true, error: wideName(i, 40) })),
      initialState(session),
    )
    const names = many(TIMEOUTS_LIMIT, (i) => wideName(i, 64))
    const asked = play(
      { ...counted, lastAnswer: preview(wide(5000)), lastStop: 'end_turn' },
      { type: 'runStarted' },
      { type: 'messageReceived', messageId: wideName(0, 128), text: wide(INLINE_TEXT_LIMIT / 3) },
      open({}, wide(50_000)),
      asks(1, 0, 2, ...names),
      ...names.map((_, i) => tool(1, 0, i, timeout)),
      asks(1, 1, 500, ...many(128, hugeCall)),
    )
    const until = '2030-01-01T00:00:00.000Z'
    const item = (i: number) =>
      ({ id: `t1.1.${i}@0.123456789`, kind: 'question', expiresAt: until, tell: true }) as const
    const answer = (i: number): Input => ({
      type: 'answered',
      answer: { id: item(i).id, decision: 'answer', ...(i < 64 ? { text: wide(300) } : { textId: name(i, 100) }) },
    })
    const children = many(28, (i) => i)
    const waits = many(27, (i) => 28 + i)
    const agents = many(16, (i) => name(i, 14))
    const people = many(64, (i) => 55 + i)
    const ending = many(8, (i) => 119 + i)
    const waiting = play(
      asked.state,
      ...children.map((i) => tool(1, 1, i, { kind: 'childOpened', gen: 0, child: hugeChild(i) })),
      ...waits.map((i) => tool(1, 1, i, { kind: 'awaits', gen: 0, awaits: { nth: 12, agents, until, stops: true } })),
      ...people.map((i) => tool(1, 1, i, { kind: 'pending', gen: 0, item: item(i) })),
      ...people.map(answer),
      ...ending.map((i) => tool(1, 1, i, result({ preview: preview(wide(5000)), endsTurn: true }))),
      tool(1, 1, 127, { kind: 'failed', pause: { reason: 'model_error', message: wide(50_000), hint: wide(50_000) } }),
    )
    const refusals = many(REFUSALS_CARRIED, (i) => refusalOf(i))
    const full = play(
      { ...waiting.state, seen: many(SEEN_LIMIT, (i) => wideName(1000 + i, 128)), refusals: [refusals] },
      ...many(QUEUE_LIMIT, (i) => message(wideName(1 + i, 128), wide(300))),
      ...many(REPORTS_LIMIT, (i): Input => ({
        type: 'childReported',
        report: { childId: name(i, 100), childGen: 123_456, childTurn: 123_456, callKey: KEY },
      })),
    ).state

    const { turn, pause: held } = full
    const filled: Record<keyof Required<SessionState>, boolean> = {
      sessionId: true,
      label: bytes(full.label) > 100,
      awaited: full.awaited !== undefined,
      tells: full.tells !== undefined,
      opened: full.opened,
      gen: true,
      seq: full.seq > 500,
      turns: true,
      leftOut: true,
      turn: turn?.calls.length === 128 && bytes(turn.opening) > 4096,
      queue: full.queue.length === QUEUE_LIMIT && full.queue.filter(({ text }) => text).length === 9,
      seen: full.seen.length === SEEN_LIMIT,
      refusals: full.refusals?.flat().length === REFUSALS_CARRIED,
      switches: true,
      switchWaits: true,
      toldAtRest: true,
      refusing: true,
      limits: true,
      model: bytes(full.model.name) > 90,
      pause: bytes(held?.message) > 2000 && bytes(held?.hint) > 2000,
      timeouts: Object.keys(full.timeouts).length === TIMEOUTS_LIMIT,
      stats:
        Object.keys(full.stats).length >= STATS_LIMIT &&
        Object.values(full.stats).filter(({ errors }) => errors).length === ERRORS_LIMIT,
      totals: true,
      forks: full.forks.length === FORKS_SHOWN,
      reports: full.reports.length === REPORTS_LIMIT,
      announcements: true,
      lastAnswer: bytes(full.lastAnswer) > 2000,
      lastStop: true,
      // A few bytes each, and not full together with the rest.
      telling: true,
      compactions: true,
      compacting: true,
      compactAsked: true,
      resuming: true,
      resumed: true,
      tries: true,
      stopFound: true,
      cancelNext: true,
      openFailed: true,
      fresh: true,
      older: true,
      wakesAsking: true,
      workspace: true,
      resting: true,
      closing: true,
      closed: true,
    }
    expect(Object.entries(filled).filter(([, isFull]) => !isFull)).toEqual([])
    expect(turn?.calls.filter((call) => call.answer?.text ?? call.answer?.textId)).toHaveLength(64)
    expect(turn?.calls.filter((call) => call.child)).toHaveLength(children.length)
    expect(bytes(full)).toBeLessThan(256 * 1024)
  })
})
