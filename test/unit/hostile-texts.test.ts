/** Texts of models and repositories are read in time that grows with their length, and not with its square. */
import { describe, expect, it } from 'vitest'
import { parseArguments } from '../../src/activities/tool/parse-arguments.ts'
import { readPartial } from '../../src/activities/model/partial-arguments.ts'
import { clean } from '../../src/core/clean.ts'
import { brief } from '../../src/core/message.ts'
import { replaceText, wasReplaced } from '../../src/capabilities/filesystem/replace-text.ts'
import { textLine } from '../../src/capabilities/filesystem/versions.ts'
import { omits } from '../../src/capabilities/filesystem/write.ts'
import { ActionStream } from '../../src/models/actions/action-stream.ts'
import { readActions } from '../../src/models/actions/action-reply.ts'
import { extractJSON, repairEscapes } from '../../src/models/actions/extract-json.ts'
import { ToolCallPieces } from '../../src/models/openai/tool-call-pieces.ts'

const tools = [{ name: 'f', description: '', parameters: {} }]
const quietly = (work: () => unknown): void => {
  try {
    work()
  } catch {
    // A refusal counts as an end.
  }
}
const replace = (text: string, part: string) => () => {
  quietly(() => replaceText(text, { old_string: part, new_string: 'x' }))
  wasReplaced(text, { old_string: 'z', new_string: part })
}

/** What a model may repeat for ever. */
const STREAMS = [
  ' ',
  '\n',
  '`',
  '```',
  '<',
  '[',
  '[TOOL_CALLS]',
  '<tool_call>',
  '<function=f>',
  '<think>',
  '{',
  '{}',
  '{"',
  '[{',
  '{"name": "f", "arguments": {"a": ',
  '{"action": "f"}, ',
  '\ud83d',
  '<tool_call>{"name": "f", "arguments": {}}',
  '{"action": "f", "a": "\\',
  '{a:',
  '}, "a":',
  '{"a":1},"b":',
  '[TOOL_CALLS]f[ARGS]{}',
  '```{"a": 1}',
]

/** Makes an input of a size. The square of the smallest size would take seconds. */
const SCANNERS: [string, number, (n: number) => () => unknown][] = [
  ['blank lines that Write looks through', 50_000, (n) => () => omits('\n'.repeat(n))],
  ['comments that Write looks through', 50_000, (n) => () => omits('#\n \n'.repeat(n))],
  ['an edit of a text that overlaps itself', 50_000, (n) => replace('a'.repeat(2 * n), 'a'.repeat(n))],
  [
    'an edit of a text that is nearly there',
    50_000,
    (n) => replace('a'.repeat(2 * n), `${'a'.repeat(n / 2)}b${'a'.repeat(n / 2)}`),
  ],
  ['lines that are counted', 500_000, (n) => () => textLine('a', '\n'.repeat(n), '0')],
  [
    'objects between spaces',
    40_000,
    (n) => {
      const text = `${' '.repeat(n)}${'{a:1}'.repeat(n / 10)}${' '.repeat(n)}`
      return () => extractJSON(text)
    },
  ],
  [
    'quotes that are escaped in a string without end',
    40_000,
    (n) => {
      const text = `{a:'"${'\\"'.repeat(n)}'}`
      return () => extractJSON(text)
    },
  ],
  ['escapes', 40_000, (n) => () => repairEscapes(`"${'\\"'.repeat(n)}`)],
  ['braces', 50_000, (n) => () => extractJSON('{'.repeat(n))],
  ['thoughts', 30_000, (n) => () => extractJSON(`${'<think>'.repeat(n)}</think>`)],
  [
    'actions that are too long',
    300_000,
    (n) => () => readActions({ content: `{${' '.repeat(n)}`, finishReason: 'stop' }, tools, 'c'),
  ],
  ...STREAMS.map((piece): [string, number, (n: number) => () => unknown] => [
    `a reply that streams in: ${piece}`,
    20_000,
    (n) => () => {
      const stream = new ActionStream(() => undefined, tools, 'c')
      const text = piece.repeat(n / piece.length)
      for (let at = 0; at < text.length; at += 3) stream.add({ type: 'text', text: text.slice(at, at + 3) })
      const { content, toolCalls } = readActions({ content: text, finishReason: 'stop' }, tools, 'c')
      stream.end(content, toolCalls)
    },
  ]),
  [
    'calls that stream in with ids of their own',
    20_000,
    (n) => () => {
      const pieces = new ToolCallPieces()
      for (let i = 0; i < n; i++) pieces.add({ id: `call-${i}`, function: { name: 'f', arguments: '' } })
    },
  ],
  [
    'arguments that stream in with the name in each piece',
    10_000,
    (n) => () => {
      const pieces = new ToolCallPieces()
      pieces.add({ index: 0, id: 'a', function: { name: 'f', arguments: '{"a": "' } })
      for (let i = 0; i < n; i++) pieces.add({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } })
    },
  ],
  ['text that is cleaned', 100_000, (n) => () => clean('\0'.repeat(n))],
  ['text that is cut', 200_000, (n) => () => brief('東'.repeat(n), 100)],
]

/** The time of this process only, because the machine may be busy with other things. */
function millis(work: () => unknown): number {
  const begun = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}

it.each(SCANNERS)('%s', (_what, n, make) => {
  make(1000)()
  const [small, large] = [make(n), make(4 * n)]
  // The shortest of some runs, because garbage is collected now and then.
  const best = (work: () => unknown): number => Math.min(...Array.from({ length: 3 }, () => millis(work)))
  // Work that is squared takes sixteen times as long for four times as much. Work that is too quick to measure is
  // quick.
  expect(best(large)).toBeLessThan(Math.max(10 * best(small), 250))
})

describe('what cannot be made linear has a limit', () => {
  it('a reply whose repair is quadratic', () => {
    const hostile = `{a:${"'b".repeat(4000)}}`
    expect(millis(() => extractJSON(hostile))).toBeLessThan(5000)
  })

  it('arguments that a pattern of the author would take for ever to match', () => {
    const call = { id: 'c', name: 'f', arguments: JSON.stringify(`${'a'.repeat(60)}b`) }
    const parsed = parseArguments(call, (args) => ({ ok: /^(a+)+$/.test(args as string), value: args, problem: 'no' }))
    expect(parsed).toEqual({ ok: false, problem: 'the arguments of "f" could not be checked within 5 s' })
  })

  it('arguments that stream in with deep nesting', () => {
    expect(readPartial(`{"a":${'['.repeat(30_000)}`)).toBeUndefined()
    expect(readPartial('{"a":{"b":["c')).toEqual({ a: { b: ['c'] } })
    expect(readPartial(`{"a":"${'[{\\"'.repeat(100)}`)).toEqual({ a: '[{"'.repeat(100) })
  })
})
