/** What the transcript draws: its rows, changes of files, arguments. */
import { describe, expect, it } from 'vitest'
import { argumentsOf, briefArguments } from '../../../src/web/conversation/card-text.ts'
import { emptyConversation, withEvents } from '../../../src/web/conversation/conversation.ts'
import { emptyCard } from '../../../src/web/conversation/live-events.ts'
import { shownDiff } from '../../../src/web/conversation/shown-diff.ts'
import { rowsOf } from '../../../src/web/conversation/transcript-rows.ts'
import { endOfRecords, withRecords, type WebRecord } from '../../../src/web/conversation/with-records.ts'
import { TURN } from './told.ts'

const record = (seq: number, inheritedFrom?: string): WebRecord => {
  return { seq, at: '', message: { role: 'user', content: `said ${seq}` }, ...(inheritedFrom && { inheritedFrom }) }
}

describe('the rows of a transcript', () => {
  const inherited = [record(1, 'root'), record(2, 'root'), record(1, 'planner')]
  const conversation = withEvents(withRecords(emptyConversation('s'), inherited, 0), TURN.slice(0, 1))
  const shown = (unfolded: string[]): string[] =>
    rowsOf(conversation, [], new Set(unfolded)).map((row) =>
      row.kind === 'inherited' ? `${row.count} from ${row.owner}` : row.key,
    )

  it('fold what was inherited into one line for each session that owns it', () => {
    expect(shown([])).toEqual(['2 from root', '1 from planner', 'r1'])
    expect(shown(['planner'])).toHaveLength(4)
  })

  it('end with the messages whose turns have not begun', () => {
    const sending = ['q1', 'q2'].map((messageId) => ({ messageId, text: messageId, failed: false }))
    const rows = rowsOf(conversation, sending, new Set())
    expect(rows.filter(({ kind }) => kind === 'sending').map(({ key }) => key)).toEqual(['q2'])
  })
})

it('reading goes on before the first result that was missing', () => {
  expect(endOfRecords([record(9, 'root'), record(1), record(2)], 0, 1)).toBe(3)
  expect(endOfRecords([record(1), record(3)], 4, 4)).toBe(5)
  expect(endOfRecords([], 7, 0)).toBe(7)
})

describe('a change of a file', () => {
  const signs = (name: string, args: unknown, details?: unknown): string | undefined =>
    shownDiff(name, args, details)
      ?.map(({ sign, text }) => (sign === 'place' ? '' : sign + text))
      .join('|')

  it('is what the tool has told of it, or else what was asked for', () => {
    const hunks = [{ oldStart: 3, newStart: 3, lines: [' a', '-b', '+c', '\\ No newline at end of file'] }]
    expect(signs('Edit', {}, { hunks })).toBe('| a|-b|+c')
    expect(signs('Edit', { old_string: 'a\nb\n', new_string: 'a\nc\n' })).toBe('| a|-b|+c')
    expect(signs('Write', { content: 'a\n' })).toBe('|+a')
  })

  it('is not seen in calls that change none, nor in what only looks like one', () => {
    expect(signs('Bash', { content: 'a' })).toBeUndefined()
    expect(signs('look', {}, { hunks: [{ lines: 'no list' }] })).toBeUndefined()
    expect(signs('Edit', { path: 'a' })).toBeUndefined()
  })
})

describe('the arguments of a call', () => {
  it('are read as far as they have come, and shown in one line', () => {
    const args = argumentsOf({ ...emptyCard('c'), arguments: '{"path":"a.ts","text":"one\\ntw' })
    expect(briefArguments(args)).toBe('path a.ts · text one tw')
    expect(briefArguments({ path: 'a.ts' })).toBe('a.ts')
  })

  it('are shown as they are when they are no JSON at all', () => {
    expect(argumentsOf({ ...emptyCard('c'), arguments: 'not json' })).toBe('not json')
  })
})
