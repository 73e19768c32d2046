import { describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../src/session/events.ts'
import { fingerprint } from '../../../src/session/fnv1a.ts'
import {
  FORKS_SHOWN,
  QUEUE_LIMIT,
  REPORTS_LIMIT,
  SEEN_LIMIT,
  STATS_LIMIT,
  TIMEOUTS_LIMIT,
  initialState,
  notTaken,
  type SessionState,
} from '../../../src/session/state.ts'
import { addToolResult } from '../../../src/session/stats.ts'
import {
  asks,
  callRef,
  child,
  message,
  model,
  only,
  opened,
  pause,
  play,
  result,
  timeout,
  tool,
  types,
} from './play.ts'

const long = (i: number, length = 128): string => `${i}`.padEnd(length, '-')
const many = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i))
const bytes = (state: SessionState): number => Buffer.byteLength(JSON.stringify(state))

describe('the state is bounded', () => {
  it('forgets the oldest message ids', () => {
    const dropped = many(SEEN_LIMIT + 10, (i): SessionEvent[] => [
      message(`m${i}`),
      model(1, 0, { kind: 'duplicate', gen: 0 }),
    ])
    const { state } = play(opened(), ...dropped.flat())
    expect(state.seen).toHaveLength(SEEN_LIMIT)
    expect(play(state, message('m10')).commands).toEqual([])
    expect(types(play(state, message('m9')).commands)).toEqual(['callModel'])
  })

  it('refuses messages, visibly and for good, when too many wait', () => {
    const full = play(play(opened(), pause).state, ...many(QUEUE_LIMIT, (i) => message(`m${i}`)))
    const refused = play(full.state, message('one-more'))
    expect(refused.state.queue).toHaveLength(QUEUE_LIMIT)
    expect(only(refused.commands, 'announce')[0]?.input.events).toMatchObject([{ type: 'message.rejected' }])
    expect(play({ ...refused.state, queue: [] }, message('one-more')).commands).toEqual([])
  })

  it('begins with as many messages as may have been taken before, and leaves the rest to be refused or not', () => {
    const session = { sessionId: 's-1', label: 'demo', messages: Array.from({ length: 1000 }, (_, i) => `m${i}`) }
    const { queue, seen } = initialState(session)
    const rest = notTaken(session)
    expect([queue.length, seen.length]).toEqual([QUEUE_LIMIT + 1, QUEUE_LIMIT + 1])
    expect([...queue.map(({ messageId }) => messageId), ...rest]).toEqual(session.messages)
  })

  it('keeps the last reports of children nobody waits for', () => {
    const report = (i: number): SessionEvent => ({
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

  it('stays under 256 KB with everything full at once', () => {
    const counted = many(STATS_LIMIT, (i) => long(i, 64)).reduce(
      (state, name) => addToolResult(state, name, result({ durationMs: 123_456_789 })),
      opened(),
    )
    const calls = many(128, (i) => callRef(long(i, 64), { id: long(i, 64), preview: 'p'.repeat(200), route: 'task' }))
    const asked = play(counted, message('first', 'x'.repeat(4096)), asks(1, 0, 2, ...calls))
    const item = (i: number) => ({ id: `t1.0.${i}@0.2`, kind: 'unknown_outcome' }) as const
    const waiting = play(
      asked.state,
      ...many(32, (i) => tool(1, 0, i, { kind: 'childOpened', gen: 0, child: child(long(i, 32)) })),
      ...many(32, (i) => tool(1, 0, 32 + i, { kind: 'pending', gen: 0, item: item(32 + i) })),
      ...many(32, (i): SessionEvent => ({
        type: 'answered',
        answer: { id: item(32 + i).id, decision: 'done', result: 'x'.repeat(1000) },
      })),
      ...many(64, (i) =>
        tool(1, 0, 64 + i, result({ preview: 'r'.repeat(1000), code: 'TOOL_TIMEOUT', isError: true })),
      ),
    )
    const full = play(
      { ...waiting.state, seen: many(SEEN_LIMIT, (i) => fingerprint(long(i + 10_000))) },
      ...many(QUEUE_LIMIT, (i) => message(long(i), 'x'.repeat(1000))),
      ...many(REPORTS_LIMIT, (i): SessionEvent => ({
        type: 'childReported',
        report: { childId: long(i, 32), childGen: 0, childTurn: 1, callKey: 't9.9.9' },
      })),
      { type: 'pauseRequested', message: 'x'.repeat(10_000) },
    ).state
    expect(full.queue).toHaveLength(QUEUE_LIMIT)
    expect(full.turn?.calls.filter((call) => call.answer)).toHaveLength(8)
    expect(full.seen).toHaveLength(SEEN_LIMIT)
    expect(bytes(full)).toBeLessThan(256 * 1024)
  })
})
