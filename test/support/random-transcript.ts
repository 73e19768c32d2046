/**
 * Invalid transcripts, which no store would hold: calls and results in any order, with ids and names as models invent.
 */
import fc from 'fast-check'
import type { Message, Part, ToolCall } from '../../src/core/message.ts'

/** Few ids, so that they repeat and sometimes match. */
const id = fc.constantFrom('a', 'b', 'a_1', '', 'call 1', 'call_1', 'x'.repeat(80), 'toolu_01:é', 'functions.look:0')
const name = fc.constantFrom('look', 'functions.look', 'a b', '', 'n'.repeat(90), 'búsqueda', '🔍')
const args = fc.constantFrom('{}', '{"n":1}', '', ' ', '{"n":', '[1]', 'null', '"text"', '{"__proto__":{"a":1}}')
const text = fc.constantFrom('', ' \n', 'Hello.', 'é🌧️', '\u0000')

const call: fc.Arbitrary<ToolCall> = fc.record({ id, name, arguments: args })
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constantFrom('system' as const, 'user' as const), content: text }),
  fc.record({ role: fc.constant('assistant' as const), content: text, toolCalls: fc.array(call, { maxLength: 3 }) }),
  fc.record({ role: fc.constant('tool' as const), content: text, toolCallId: id, name }),
  fc.record({ role: fc.constant('tool' as const), content: text }),
  fc.record({
    role: fc.constantFrom('user' as const, 'tool' as const),
    content: text,
    toolCallId: id,
    parts: fc.constant<Part[]>([{ type: 'image', data: 'AAAA', mimeType: 'image/png' }]),
  }),
)

export const transcript: fc.Arbitrary<Message[]> = fc.array(message, { maxLength: 12 })
