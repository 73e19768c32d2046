/** The part of the chat that is drawn anew: what a person must see before an answer. */
import { stripVTControlCharacters as plain } from 'node:util'
import { expect, it } from 'vitest'
import { NEW_CONVERSATION } from '../../../../src/cli/chat/chat-conversation.ts'
import { createChat } from '../../../../src/cli/chat/create-chat.ts'
import type { ChatState } from '../../../../src/cli/chat/chat-state.ts'
import { liveLines } from '../../../../src/cli/chat/live-lines.ts'
import { offered } from '../../../../src/cli/chat/press-key.ts'
import type { InboxItem } from '../../../../src/client/index.ts'

const NEW: ChatState = createChat('s', [], () => undefined).state

function shown(args: object, size = { columns: 80, rows: 24 }, touches: string[] = []): string {
  const item = {
    sessionId: 's',
    id: 'i',
    kind: 'approval',
    name: 'query',
    callId: 'c',
    message: 'may "query" run?',
    preview: JSON.stringify(args),
    permit: { hash: 'h', touches, rules: [] },
  } as unknown as InboxItem
  const asked = offered({ ...NEW, inbox: [item] }, 0)
  return liveLines(asked, size, new Date()).lines.map(plain).join('\n')
}

it('empty lines do not push the end of an argument out of sight', () => {
  expect(shown({ sql: 'select 1\n\n\n\n\n\n\n\n; drop table users' })).toContain('; drop table users')
})

it('however much a call touches, its arguments are seen', () => {
  const all = shown({ run_in_background: true }, undefined, ['run '.repeat(400)])
  expect(all).toMatch(/… \d+ more lines: not all is shown here/)
  expect(all).toContain('run_in_background: true')
})

it('what is cut is said, and the question stays', () => {
  const long = shown({ a: 'word '.repeat(400), path: '/etc/passwd' })
  expect(long).toContain('may "query" run?')
  expect(long).toMatch(/… \d+ more lines: not all is shown here/)
  expect(long).toContain('/etc/passwd')
})

it.each([12, 16])('the question and the choices stand on a screen of %i rows', (rows) => {
  const lines = shown({ a: '1 '.repeat(500), b: '2 '.repeat(500), c: '3 '.repeat(500) }, { columns: 80, rows })
  expect(lines).toContain('may "query" run?')
  expect(lines).toMatch(/1\. approve/)
})

it('the end of a long line that streams is shown', () => {
  const conversation = {
    ...NEW_CONVERSATION,
    stream: { step: 'm1.0', attempt: 1, text: `${'a '.repeat(50_000)}end`, reasoning: '' },
  }
  const lines = liveLines({ ...NEW, conversation }, { columns: 80, rows: 24 }, new Date()).lines.map(plain)
  expect(lines.join('\n')).toContain('end')
  expect(lines.length).toBeLessThanOrEqual(24)
})

it('of many choices, those around the chosen one are shown, and how many there are besides', () => {
  const rows = Array.from({ length: 40 }, (_, at) => ({
    label: `fork ${at}`,
    choice: { to: 'switch' as const, sessionId: `${at}` },
  }))
  const lines = (at: number): string =>
    liveLines({ ...NEW, panel: { rows, at, chosen: [], openedAt: 0 } }, { columns: 80, rows: 24 }, new Date())
      .lines.map(plain)
      .join('\n')
  expect(lines(0)).toMatch(/❯ 1\. fork 0\n[^]*… \d+ below/)
  expect(lines(20)).toMatch(/… \d+ above\n[^]*❯ +fork 20\n[^]*… \d+ below/)
  expect(lines(39)).toMatch(/… \d+ above\n[^]*❯ +fork 39\n/)
})

it('of a long text that is typed, the part around the cursor is shown', () => {
  const text = `${'x'.repeat(500_000)}|${'y'.repeat(500_000)}`
  const editor = { ...NEW.editor, text, cursor: 500_001 }
  const { lines, cursor } = liveLines({ ...NEW, editor }, { columns: 80, rows: 24 }, new Date())
  expect(plain(lines[cursor.y] ?? '').slice(0, cursor.x)).toMatch(/x\|$/)
  expect(lines.map(plain).join('\n')).toContain('… more above')
})
