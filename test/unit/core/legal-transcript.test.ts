import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CallIds } from '../../../src/core/call-ids.ts'
import { legalTranscript } from '../../../src/core/legal-transcript.ts'
import type { Message } from '../../../src/core/message.ts'
import { transcript } from '../../support/random-transcript.ts'

const LEGAL = /^[a-zA-Z0-9_-]+$/

function sent(messages: Message[]): Message[] {
  return legalTranscript(messages).map(({ message }) => message)
}

function calling(...ids: string[]): Message {
  return { role: 'assistant', content: '', toolCalls: ids.map((id) => ({ id, name: 'look', arguments: '{}' })) }
}

function result(toolCallId: string, content: string): Message {
  return { role: 'tool', content, toolCallId, name: 'look' }
}

describe('a transcript that is sent', () => {
  it('is legal, whatever it was', () => {
    fc.assert(
      fc.property(transcript, (messages) => {
        const legal = sent(messages)
        const ids = new Set<string>()
        for (let i = 0; i < legal.length; i++) {
          const { role, content, parts = [], toolCalls = [] } = legal[i] as Message
          expect(role).not.toBe('tool')
          expect(content.trim() !== '' || toolCalls.length > 0 || (role === 'user' && parts.length > 0)).toBe(true)
          for (const { id, name, arguments: args } of toolCalls) {
            expect(id).toMatch(LEGAL)
            expect(id.length).toBeLessThanOrEqual(40)
            expect(name).toMatch(LEGAL)
            expect(name.length).toBeLessThanOrEqual(64)
            expect(JSON.parse(args)).toBeTypeOf('object')
            expect(args.trim().startsWith('{')).toBe(true)
            expect(ids).not.toContain(id)
            ids.add(id)
            expect(legal[++i]).toMatchObject({ role: 'tool', toolCallId: id, name })
          }
        }
      }),
    )
  })

  it('that is legal stays as it is, the same objects', () => {
    fc.assert(
      fc.property(transcript, (messages) => {
        const legal = sent(messages)
        const again = sent(legal)
        expect(again).toHaveLength(legal.length)
        for (const [i, message] of again.entries()) expect(message).toBe(legal[i])
      }),
    )
  })

  it('begins the same however it goes on, so that a provider finds it in its cache', () => {
    const open = [calling('a'), result('a', 'one'), calling('a', 'a'), result('a', 'two'), result('a', 'three')]
    const more = [...open, calling('a_1'), result('a_1', 'four')]
    expect(sent(more).slice(0, open.length)).toEqual(sent(open))
  })

  it('has the results of a call right after it, also if something came between', () => {
    const question: Message = { role: 'user', content: 'Well?' }
    expect(sent([calling('a', 'b'), result('b', '2'), question, result('a', '1')])).toEqual([
      calling('a', 'b'),
      result('a', '1'),
      result('b', '2'),
      question,
    ])
  })

  it('says where each message comes from', () => {
    const from = legalTranscript([result('x', 'orphan'), calling('a', 'b'), result('b', '2')]).map((each) => each.from)
    expect(from).toEqual([1, 1, 2])
  })

  it('answers a call that has no result', () => {
    expect(sent([calling('a')])[1]).toMatchObject({
      role: 'tool',
      isError: true,
      content: 'TOOL_OUTCOME_UNKNOWN: there is no result of this call',
    })
  })

  it('takes a repeated id for another call of the same name, and its result with it', () => {
    const legal = sent([calling('call_0'), result('call_0', 'one'), calling('call_0'), result('call_0', 'two')])
    expect(legal.flatMap(({ toolCallId, content }) => (toolCallId ? [[toolCallId, content]] : []))).toEqual([
      ['call_0', 'one'],
      ['call_0_1', 'two'],
    ])
  })
})

it('ids of calls stay different however long and however often they repeat', () => {
  const ids = new CallIds()
  const taken = Array.from({ length: 3000 }, (_, i) => ids.take(['x'.repeat(100), 'call_0', '💥', ''][i % 4] as string))
  expect(new Set(taken).size).toBe(3000)
  for (const id of taken) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
})
