import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dropOrphans } from '../../../src/activities/child/drop-orphans.ts'
import type { Message } from '../../../src/core/message.ts'
import { refusal } from '../agent/authoring.ts'

const user: Message = { role: 'user', content: 'hi' }
const asks = (content: string, ...ids: string[]): Message => ({
  role: 'assistant',
  content,
  toolCalls: ids.map((id) => ({ id, name: 't', arguments: '{}' })),
})
const answers = (id: string): Message => ({ role: 'tool', content: 'r', toolCallId: id, name: 't' })

describe('dropOrphans', () => {
  it('leaves whole exchanges alone', () => {
    const messages = [
      user,
      asks('', 'a', 'b'),
      answers('b'),
      answers('a'),
      { role: 'assistant', content: 'done' } as const,
    ]
    expect(dropOrphans(messages)).toEqual({ messages, dropped: 0 })
  })

  it('drops results whose call was cut off, as slice leaves them', () => {
    expect(dropOrphans([answers('a'), answers('b'), user])).toEqual({ messages: [user], dropped: 2 })
  })

  it('drops calls whose results were filtered out, and keeps what the assistant said', () => {
    expect(dropOrphans([asks('let me see', 'a'), user])).toEqual({
      messages: [{ role: 'assistant', content: 'let me see' }, user],
      dropped: 1,
    })
  })

  it('drops an assistant message that only asked for calls that have no result', () => {
    expect(dropOrphans([user, asks('', 'a', 'b')])).toEqual({ messages: [user], dropped: 2 })
  })

  it('keeps the answered calls of a message that is answered in part', () => {
    expect(dropOrphans([asks('', 'a', 'b'), answers('b')])).toEqual({
      messages: [asks('', 'b'), answers('b')],
      dropped: 1,
    })
  })

  it('counts a result only if it stands right after its call', () => {
    expect(dropOrphans([asks('x', 'a'), user, answers('a')])).toEqual({
      messages: [{ role: 'assistant', content: 'x' }, user],
      dropped: 2,
    })
  })

  it.each([
    ['no list', { role: 'user' }, 'must return an array of messages, not object'],
    ['a record that is none', [user, null], 'record 1 must be a message, not null'],
    ['an unknown role', [{ role: 'bot', content: '' }], 'record 0: role must be'],
    ['content that is no text', [{ role: 'user', content: null }], 'record 0: content must be text, not null'],
    ['calls that are none', [{ role: 'assistant', content: '', toolCalls: [{ id: 1 }] }], 'record 0: toolCalls'],
  ])('refuses %s, naming the record', (_what, given, problem) => {
    expect(refusal('INVALID_MESSAGE', () => dropOrphans(given))).toContain(problem)
  })

  it('leaves no call without a result and no result without a call, whatever was cut', () => {
    const id = fc.constantFrom('a', 'b', 'c')
    const record = fc.oneof(
      fc.constant(user),
      id.map(answers),
      fc.array(id, { maxLength: 3 }).map((ids) => asks('', ...ids)),
      fc.constant(asks('text', 'a')),
    )
    fc.assert(
      fc.property(fc.array(record), (given) => {
        const { messages, dropped } = dropOrphans(given)
        let open: string[] = []
        for (const message of messages) {
          if (message.role === 'tool') {
            expect(open).toContain(message.toolCallId)
            open = open.filter((each) => each !== message.toolCallId)
          } else {
            expect(open).toEqual([])
            open = (message.toolCalls ?? []).map((call) => call.id)
          }
        }
        expect(open).toEqual([])
        expect(dropOrphans(messages)).toEqual({ messages, dropped: 0 })
        const count = (all: Message[]) =>
          all.reduce((sum, each) => sum + (each.role === 'tool' ? 1 : (each.toolCalls?.length ?? 0)), 0)
        expect(dropped).toBe(count(given) - count(messages))
      }),
    )
  })
})
