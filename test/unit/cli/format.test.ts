import { stripVTControlCharacters as plain } from 'node:util'
import { describe, expect, it } from 'vitest'
import { eventLine, inboxLines, sessionLine, statsLine } from '../../../src/cli/format.ts'
import type { InboxPause } from '../../../src/client/index.ts'

const lineOf = (type: string): string | undefined =>
  eventLine({ sessionId: 's-1', at: new Date(0), type, data: { generation: 1, seq: 4, turn: 2 }, cursor: '{}' })

it('the line of a step that is not run again says why', () => {
  const data = { key: 't1.0.0', kind: 'tool', name: 'glob', turn: 1, callId: 'c-1', deaths: 3 }
  const line = eventLine({ sessionId: 's-1', at: new Date(0), type: 'step.quarantined', data, cursor: '{}' })
  expect(line).toContain('glob t1.0.0 is not run again: its worker died 3 times while it ran')
})

describe('the line of a session', () => {
  it('that was rewound says what no longer counts', () => {
    expect(lineOf('session.rewound')).toContain('behind record 4; what came after it in this session no longer counts')
  })

  it('that was restarted does not: a restart takes nothing away', () => {
    expect(lineOf('session.restarted')).toContain('behind record 4; a turn without an answer is taken up again')
  })
})

it.each([
  ['tool.status', { name: 'get_weather', title: 'The weather', status: 'DOING' }, 'The weather DOING'],
  ['tool.update', { name: 'get_weather', title: 'The weather', update: { percent: 5 } }, 'The weather {"percent":5}'],
  ['tool.status', { name: 'get_weather', status: 'DOING' }, 'get_weather DOING'],
  ['message.completed', { calls: [{ name: 'a', title: 'Alpha' }, { name: 'b' }] }, 'asks for Alpha, b'],
  ['pending.closed', { name: 'pay', title: 'Payment', decision: 'done', id: 'x' }, 'Payment done x'],
])('the line of %s names a tool as people know it: %j', (type, data, text) => {
  expect(eventLine({ sessionId: 's-1', at: new Date(0), type, data, cursor: '{}' })).toContain(text)
})

it('the line of a tool’s statistics says how it failed', () => {
  const counts = {
    toolName: 'Read',
    executionCount: 4,
    successCount: 1,
    failureCount: 3,
    totalDuration: 8,
    averageDuration: 2,
  }
  expect(statsLine({ ...counts, errors: { ENOENT: 2, TOOL_TIMEOUT: 1 } })).toBe(
    'Read: 4 calls, 3 failed (ENOENT 2, TOOL_TIMEOUT 1), 2 ms on average',
  )
  expect(statsLine(counts)).toBe('Read: 4 calls, 3 failed, 2 ms on average')
})

describe('what a session waits for below', () => {
  const pause = (sessionId: string): InboxPause => ({
    kind: 'paused',
    sessionId,
    label: 'below',
    agent: 'a',
    reason: 'model_error',
    message: 'the key\nis wrong',
    hint: 'set OPENAI_API_KEY',
    at: '2026-01-01T00:00:00.000Z',
  })
  const session = {
    id: 's-1',
    rootId: 's-1',
    depth: 0,
    agent: 'a',
    label: 'above',
    state: 'waiting',
    inHand: [],
    pending: [],
    turns: 0,
    records: 1,
    createdAt: new Date(0),
  } as const

  it('stands in its line: the first three, and how many more', () => {
    const line = plain(sessionLine({ ...session, inHand: [], pending: [], heldBy: ['a', 'b', 'c', 'd'].map(pause) }))
    expect(line).toContain(
      'held up by a paused (model_error), b paused (model_error), c paused (model_error), and 1 more',
    )
  })

  it('stands in the inbox on lines of its own: why, what to mend, the command that resumes', () => {
    expect(plain(inboxLines(pause('s-2')))).toMatch(
      /^. s-2 is paused \(model_error\): the key is wrong \(below, .*\)\n {4}set OPENAI_API_KEY\n {4}stello resume s-2$/,
    )
  })
})

it('the line of a session names the tool in hand as people know it', () => {
  const since = new Date()
  const line = sessionLine({
    id: 's-1',
    rootId: 's-1',
    depth: 0,
    agent: 'a',
    label: 'tea',
    state: 'running',
    inHand: [
      { kind: 'tool', name: 'get_weather', title: 'The weather', since },
      { kind: 'tool', name: 'look', since },
    ],
    pending: [],
    heldBy: [],
    turns: 1,
    records: 2,
    createdAt: since,
  })
  expect(line).toMatch(/tea.* The weather \d+s, .* look \d+s/)
})
