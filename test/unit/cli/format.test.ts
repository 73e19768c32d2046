import { stripVTControlCharacters as plain } from 'node:util'
import { describe, expect, it } from 'vitest'
import { eventLine, inboxLines, sessionLine, statsLine } from '../../../src/cli/output/format.ts'
import type { EventType, InboxPause, StelloEvent } from '../../../src/client/index.ts'

type DataOf = { [Type in EventType]: Extract<StelloEvent, { type: Type }>['data'] }

const call = { callId: 'c-1', name: 'get_weather', title: 'The weather' }
const question = { ...call, id: 't1.0.0@0.1', kind: 'unknown_outcome', turn: 1 } as const
const goneBack = { generation: 1, seq: 4, turn: 2 }
const streamed = { step: 'm1.0', attempt: 1 }
const usage = { inputTokens: 1, outputTokens: 1 }

/**
 * An event of every type, as a watcher gets it, and the line that a person reads. A type without a line does not
 * compile.
 */
const EVENTS: { [Type in EventType]: [data: DataOf[Type], line: string | undefined][] } = {
  'turn.started': [[{ turn: 1, messageId: 'm', seq: 1, text: 'What is\nthe weather?' }, 'What is the weather?']],
  'model.started': [[{ model: 'gpt', round: 0, ...streamed }, undefined]],
  'message.delta': [[{ text: 'It', ...streamed }, undefined]],
  'reasoning.delta': [[{ text: 'Hm', ...streamed }, undefined]],
  'model.waiting': [
    [
      { turn: 1, round: 0, provider: 'openai', why: '429', nextTryMs: 60_000 },
      `waits for openai: 429, next try ${new Date(60_000).toTimeString().slice(0, 8)}`,
    ],
  ],
  'message.completed': [
    [{ turn: 1, round: 0, seq: 2, text: 'It rains.', calls: [], usage, model: 'gpt' }, 'It rains.'],
    [
      {
        turn: 1,
        round: 0,
        seq: 2,
        text: '',
        calls: [
          { ...call, arguments: '{}' },
          { callId: 'c-2', name: 'look', arguments: '{}' },
        ],
        usage,
        model: 'gpt',
      },
      'asks for The weather, look',
    ],
  ],
  'transcript.compacted': [
    [
      {
        turn: 3,
        round: 1,
        messages: 40,
        sessionId: 's',
        seq: 38,
        text: 'The goal\nis',
        cut: false,
        why: 'full',
        model: 'gpt',
      },
      '40 messages are summarised for the model from here on (full): The goal is',
    ],
    [
      { turn: 3, messages: 40, sessionId: 's', seq: 38, text: 'gone', cut: true, why: 'refused' },
      '40 messages are left out for the model from here on (refused): gone',
    ],
  ],
  'notice.failed': [[{ key: 'n.a1', why: 'status\n503' }, 'nobody could be told: status 503']],
  'message.rejected': [[{ reason: 'the message is empty', preview: '""' }, 'the message is empty: ""']],
  'tool.status': [
    [
      { ...call, status: 'DOING', showTip: 'Asking Oslo', params: { a: 1 }, ...streamed },
      'The weather DOING Asking Oslo {"a":1}',
    ],
    [
      { callId: 'c', name: 'look', status: 'SUCCESS', turn: 1, seq: 3, durationMs: 1, result: 'rain' },
      'look SUCCESS rain',
    ],
  ],
  'tool.update': [[{ ...call, update: { percent: 5 } }, 'The weather {"percent":5}']],
  'pending.opened': [
    [
      { ...question, round: 0, preview: '{}', message: 'did it take effect?', at: '' },
      'did it take effect? t1.0.0@0.1',
    ],
  ],
  'permission.decided': [
    [
      {
        callId: 'c-1',
        name: 'Bash',
        turn: 1,
        decision: 'deny',
        by: 'rule',
        rule: 'Bash(rm:*)',
        touches: ['run rm -rf x', 'write x'],
      },
      'Bash deny by rule Bash(rm:*): run rm -rf x; write x',
    ],
    [
      { callId: 'c-1', name: 'Read', turn: 1, decision: 'allow', by: 'mode', mode: 'default', touches: [] },
      'Read allow by mode default',
    ],
  ],
  'pending.closed': [[{ ...question, decision: 'done' }, 'The weather done t1.0.0@0.1']],
  'answer.rejected': [
    [{ reason: 'nothing waits', id: 'x' }, 'nothing waits: x'],
    [{ reason: 'id is missing', preview: '{}' }, 'id is missing: {}'],
  ],
  'step.taken_over': [
    [
      { key: 't1.0.0', kind: 'tool', name: 'pay', worker: '17', begunAt: '' },
      'pay t1.0.0: worker 17 has died while it ran',
    ],
  ],
  'step.quarantined': [
    [
      { key: 't1.0.0', kind: 'tool', name: 'glob', turn: 1, callId: 'c-1', deaths: 3 },
      'glob t1.0.0 is not run again: its worker died 3 times while it ran',
    ],
  ],
  'workspace.acquired': [[{ workspaceId: 's-1', host: 'host-1', generation: 1, turn: 1 }, 's-1 on host host-1']],
  'workspace.lost': [
    [{ workspaceId: 's-1', host: 'host-1', generation: 1, turn: 2 }, 's-1 is gone together with its host host-1'],
    [{ workspaceId: 's-1', generation: 1, turn: 2 }, 's-1 is gone together with its host'],
  ],
  'session.forked': [[{ child: 's-2', label: 'a part', awaited: true }, 's-2 a part']],
  'session.paused': [
    [{ reason: 'user', message: 'lunch' }, 'user: lunch'],
    [
      {
        reason: 'model_error',
        message: 'away',
        clears: 'weather',
        nextTryAt: new Date(2026, 10, 22, 14, 32, 10).toISOString(),
      },
      `model_error: away (tries again by itself at ${new Date(2026, 10, 22, 14, 32, 10).toTimeString().slice(0, 8)})`,
    ],
  ],
  'session.resumed': [
    [{}, ''],
    [{ tries: 2 }, 'tries again by itself'],
  ],
  'turn.completed': [[{ turn: 1, stopReason: 'end_turn', text: 'It rains.' }, 'end_turn']],
  'session.rewound': [[goneBack, 'goes on behind record 4; what came after it in this session no longer counts']],
  'session.restarted': [[goneBack, 'goes on behind record 4; a turn without an answer is taken up again']],
  'session.closed': [[{}, '']],
}

const lineOf = (type: string, data: object): string | undefined => {
  const event = { sessionId: 's-1', at: new Date(0), type, data, cursor: '{}' } as StelloEvent
  const line = eventLine(event)
  return line === undefined ? undefined : plain(line)
}

describe('the line of an event', () => {
  const all = Object.entries(EVENTS).flatMap(([type, each]) => each.map(([data, line]) => [type, line, data] as const))

  it.each(all)('%s says %j', (type, line, data) => {
    expect(lineOf(type, data)).toBe(line === undefined ? undefined : `s-1 ${type.padEnd(18)} ${line}`)
  })

  it('that a newer worker has written shows what it holds', () => {
    expect(lineOf('budget.spent', { usd: 5 })).toContain('budget.spent       {"usd":5}')
  })
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

  it('stands in the inbox on lines of its own: the reason, what to mend, the command that resumes', () => {
    expect(plain(inboxLines(pause('s-2')))).toMatch(
      /^. s-2 is paused \(model_error\): the key is wrong \(below, .*\)\n {4}set OPENAI_API_KEY\n {4}stello resume s-2$/,
    )
  })
})

it('the inbox names all that would be permitted, where the question names a part of it', () => {
  const lines = (message: string, touches = ['run ls', 'run rm\nx']): string[] =>
    plain(
      inboxLines({
        kind: 'approval',
        id: 't1.0.0@0.1',
        sessionId: 's-1',
        label: 'main',
        agent: 'a',
        name: 'Bash',
        callId: 'c',
        turn: 1,
        round: 0,
        preview: '{}',
        message,
        permit: { hash: 'h', touches, rules: [] },
        at: '2026-01-01T00:00:00.000Z',
      }),
    ).split('\n    ')
  expect(lines('It would run ls and 1 more.').slice(2, 4)).toEqual(['would run ls', 'would run rm x'])
  expect(lines('It would run ls; run rm\nx.').join()).not.toContain('would run rm x,')
  const pushes = ['run git push --dry-run', 'run git push', 'and 1 more']
  expect(lines('It would run git push --dry-run; and 2 more.', pushes).slice(2, 5)).toEqual([
    'would run git push --dry-run',
    'would run git push',
    'and 1 more',
  ])
})

it('the line of a session names the running tool by its name for people', () => {
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

it('the line of a session says which provider it waits for, and when that provider is tried again', () => {
  const [since, later] = [new Date(0), new Date(Date.now() + 3_600_000)]
  const line = (nextTry: Date): string =>
    plain(
      sessionLine({
        id: 's-1',
        rootId: 's-1',
        depth: 0,
        agent: 'a',
        label: 'tea',
        state: 'waiting',
        inHand: [],
        pending: [],
        weather: { provider: 'openai', why: '429', since, nextTry },
        heldBy: [],
        turns: 1,
        records: 2,
        createdAt: since,
      }),
    )
  expect(line(later)).toMatch(new RegExp(`waits for openai: 429, next try ${later.toTimeString().slice(0, 8)}$`))
  expect(line(since)).toMatch(/waits for openai: 429, next try now$/)
})
