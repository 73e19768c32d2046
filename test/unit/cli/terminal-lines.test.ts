/**
 * The layout of the commands on a terminal: the table of sessions, the lines of a watch, the records of a transcript.
 */
import { stripVTControlCharacters as plain } from 'node:util'
import { describe, expect, it } from 'vitest'
import { fitLine, padColumns } from '../../../src/cli/output/fit-line.ts'
import { recordLines } from '../../../src/cli/output/record-lines.ts'
import { sessionTable } from '../../../src/cli/output/session-table.ts'
import { createWatchLines } from '../../../src/cli/output/watch-lines.ts'
import type { RootSummary, SessionRecord, StelloEvent } from '../../../src/client/index.ts'

describe('a line', () => {
  it('is cut to the width, where wide characters take two columns', () => {
    expect(fitLine('a long line', 6)).toBe('a lon…')
    expect(fitLine('a line', 6)).toBe('a line')
    expect(fitLine('茶茶茶茶', 5)).toBe('茶茶…')
    expect(padColumns('茶', 4)).toBe('茶  ')
  })
})

const now = new Date()
const totals = { sessions: 3, open: 1, waiting: 0, inputTokens: 12_000, outputTokens: 345, lastAt: now }
const root: RootSummary = {
  id: 'tea-1',
  rootId: 'tea-1',
  depth: 0,
  agent: 'changes',
  label: 'tea',
  state: 'paused',
  pause: { reason: 'user', message: 'lunch' },
  inHand: [],
  pending: [],
  heldBy: [],
  turns: 1,
  records: 2,
  createdAt: new Date(now.getTime() - 90_000),
  tree: totals,
}

describe('the table of sessions', () => {
  it('has age, state, label, agent, tokens, size of the tree and id, and below them what holds a session up', () => {
    const [head, first, below] = sessionTable([root], 100).map(plain)
    expect(head).toMatch(/^ +AGE {2}STATE {4}LABEL +AGENT +TOKENS {2}TREE {2}ID/)
    expect(first).toMatch(/^1m3\ds {2}paused {3}tea +changes +12k +3 {2}tea-1$/)
    expect(below).toMatch(/^ +└ user: lunch$/)
  })

  it.each([40, 60, 80, 200])('fits %i columns, whatever the names of labels and agents', (columns) => {
    const long = {
      ...root,
      label: 'a long label '.repeat(20),
      agent: 'a-very-long-name-of-an-agent',
      id: 'x'.repeat(40),
    }
    for (const line of sessionTable([root, long], columns)) expect(plain(line).length).toBeLessThanOrEqual(columns)
  })

  it('is empty without sessions', () => expect(sessionTable([], 80)).toEqual([]))
})

const event = (type: StelloEvent['type'], data: object, sessionId = 's'): StelloEvent =>
  ({ type, data, sessionId, at: now, cursor: '' }) as unknown as StelloEvent
const delta = (text: string, sessionId?: string): StelloEvent =>
  event('message.delta', { text, step: 'm1.0', attempt: 1 }, sessionId)
const completed = (text: string): StelloEvent => event('message.completed', { text, calls: [], turn: 1 })
const call = { callId: 'c', name: 'weather', params: { city: 'Oslo' } }
const told = (events: StelloEvent[], named = false): string => {
  const lines = createWatchLines({ named, columns: () => 60 })
  return plain(events.map(lines).join(''))
}

describe('a watch on a terminal', () => {
  it('writes text as it comes, and once', () => {
    expect(told([delta('It '), delta('rains.'), completed('It rains.'), completed('Again.')])).toBe(
      'It rains.\nAgain.\n',
    )
  })

  it('writes the rest of a text if it has seen only the beginning of it', () => {
    expect(told([delta('It '), completed('It rains.')])).toBe('It rains.\n')
    expect(told([delta('It ', 'other'), completed('It rains.')])).toBe('It \nIt rains.\n')
  })

  it('writes a long text once, of which the last event has only the beginning', () => {
    expect(told([delta('It rains'), delta(' in Oslo.'), completed('It rains…')])).toBe('It rains in Oslo.\n')
    expect(told([delta('It '), completed('It rains…')])).toBe('It rains…\n')
  })

  it('writes the whole text if it has seen only the end of it', () => {
    expect(told([delta('rains.'), completed('It rains.')])).toBe('rains.\nIt rains.\n')
  })

  it('writes two lines for a call, whatever its card tells meanwhile', () => {
    const card = (status: string, more = {}): StelloEvent => event('tool.status', { ...call, status, ...more })
    const ends = card('SUCCESS', { result: 'Rain\nin Oslo.', durationMs: 1234 })
    expect(told([card('WAIT'), card('DOING'), card('DOING'), ends])).toBe(
      '⚒ weather {"city":"Oslo"}\n✓ weather 1.2 s Rain in Oslo.\n',
    )
    expect(told([ends])).toBe('✓ weather {"city":"Oslo"} 1.2 s Rain in Oslo.\n')
  })

  it('keeps sessions apart that stream at the same time', () => {
    expect(told([delta('one', 'a'), delta('two', 'b'), event('session.closed', {}, 'a')], true)).toBe(
      'a one\nb two\na session.closed\n',
    )
  })

  it('cuts lines that are not text to the width', () => {
    expect(told([event('turn.started', { text: 'x'.repeat(200) })])).toBe(`› ${'x'.repeat(57)}…\n`)
  })
})

const record = (message: object, seq = 7): SessionRecord => ({ seq, at: now, message }) as SessionRecord
const shown = (one: SessionRecord, full = false): string =>
  plain(recordLines(one, { sessionId: 'tea-1', columns: 70, full }).join('\n'))

describe('a record of a transcript', () => {
  const result = record({ role: 'tool', name: 'read', content: Array.from({ length: 30 }, (_, i) => i).join('\n') })

  it('shows a long result folded, with the command that shows it whole', () => {
    const lines = shown(result).split('\n')
    expect(lines).toHaveLength(7)
    expect(lines[0]).toBe('  ⎿ 0')
    expect(lines.at(-1)).toBe('  … 24 more lines: stello transcript tea-1 --at 7')
    expect(shown({ ...result, inheritedFrom: 'above-1' })).toContain('stello transcript above-1 --at 7')
    expect(shown(result, true).split('\n')).toHaveLength(30)
  })

  it('shows calls as a line each', () => {
    const asks = { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'read', arguments: '{"path":\n"a"}' }] }
    expect(shown(record(asks))).toBe('\n⚒ read {"path": "a"}')
    expect(shown(record({ role: 'user', content: 'one\ntwo' }))).toBe('\n› one\n  two')
  })
})
