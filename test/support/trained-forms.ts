/** Correct calls in the forms that open models are trained to write, with any names and arguments. */
import fc from 'fast-check'
import type { ToolSpec } from '../../src/core/model.ts'

export interface WrittenCall {
  name: string
  args: Record<string, unknown>
}

const object = { type: 'object' }
/**
 * Their names use every character that a name may have. None of the tools is read only, so the strictest rules hold.
 */
export const TOOLS: ToolSpec[] = ['shell', 'get_weather', 'write-file', 'a', 'mcp__files__read', 'find2'].map(
  (name) => {
    return { name, description: `Does ${name}`, parameters: object }
  },
)

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    'say "hi"',
    "it's",
    'a\nb\tc',
    '{"action": "shell"}',
    '</tool_call>',
    '```json\n{}\n```',
    'C:\\users\\new',
    '東京 🌧️',
    '[TOOL_CALLS]',
    '<think>',
    '}}]',
    'key: value, "x": 1',
    'const f = () => { return `a` }',
    '# or "dist"',
  ),
)
const key = fc.constantFrom(
  'command',
  'path',
  'text',
  'a b',
  'naïve',
  'n',
  'list',
  'options',
  'id',
  'type',
  'name',
  'x"y',
)
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value
/** Values as JSON has them: without -0. */
const args = fc
  .dictionary(key, value, { maxKeys: 4 })
  .map((given) => JSON.parse(JSON.stringify(given)) as Record<string, unknown>)
export const writtenCall: fc.Arbitrary<WrittenCall> = fc.record({
  name: fc.constantFrom(...TOOLS.map(({ name }) => name)),
  args,
})

type Json = (value: unknown) => string
/** The ways in which models put space into JSON. */
const SPACINGS: Json[] = [
  (one) => JSON.stringify(one),
  (one) => JSON.stringify(one, null, 2),
  (one) => JSON.stringify(one, null, 1).replace(/\n */g, ' '),
]

interface Form {
  /** Several calls in one reply. */
  several: boolean
  write(calls: WrittenCall[], json: Json): string
}

const each = (write: (call: WrittenCall, json: Json) => string, between = '\n'): Form => {
  return { several: true, write: (calls, json) => calls.map((call) => write(call, json)).join(between) }
}
const named = ({ name, args: given }: WrittenCall) => ({ name, arguments: given })
const llama = ({ name, args: given }: WrittenCall) => ({ name, parameters: given })
const openai = ({ name, args: given }: WrittenCall, i: number) => {
  return { id: `call_${i}`, type: 'function', function: { name, arguments: JSON.stringify(given) } }
}

export const FORMS: Record<string, Form> = {
  hermes: each((call, json) => `<tool_call>\n${json(named(call))}\n</tool_call>`),
  'hermes, arguments first': each((call, json) => {
    return `<tool_call>${json({ arguments: call.args, name: call.name })}</tool_call>`
  }),
  'hermes, arguments as text': each((call, json) => {
    return `<tool_call>\n${json({ name: call.name, arguments: JSON.stringify(call.args) })}\n</tool_call>`
  }),
  'hermes, its end eaten by a stop sequence': {
    several: false,
    write: ([call], json) => (call ? `<tool_call>\n${json(named(call))}\n` : ''),
  },
  'hermes, a list in one tag': {
    several: true,
    write: (calls, json) => `<tool_call>${json(calls.map(named))}</tool_call>`,
  },
  granite: { several: true, write: (calls, json) => `<|tool_call|>${json(calls.map(named))}` },
  llama: { several: false, write: ([call], json) => (call ? json(llama(call)) : '') },
  'llama, several': each((call, json) => json(llama(call)), '; '),
  'llama with its tag': each((call, json) => `<|python_tag|>${json(llama(call))}`, ''),
  'llama with its type': each((call, json) => json({ type: 'function', ...llama(call) })),
  'llama with its ends': {
    several: true,
    write: (calls, json) => `<|python_tag|>${calls.map((call) => json(llama(call))).join('; ')}<|eom_id|>`,
  },
  mistral: { several: true, write: (calls, json) => `[TOOL_CALLS][${calls.map((c) => json(named(c))).join(', ')}]` },
  'mistral with space': { several: true, write: (calls, json) => `[TOOL_CALLS] ${json(calls.map(named))}</s>` },
  'mistral with ids': {
    several: true,
    write: (calls, json) => `[TOOL_CALLS] ${json(calls.map((call, i) => ({ ...named(call), id: `AbC${i}` })))}`,
  },
  'mistral, later': each(({ name, args: given }, json) => `[TOOL_CALLS]${name}[ARGS]${json(given)}`, ''),
  'a list': { several: true, write: (calls, json) => json(calls.map(named)) },
  openai: { several: true, write: (calls, json) => json({ tool_calls: calls.map(openai) }) },
  'openai, arguments as objects': {
    several: true,
    write: (calls, json) => json({ content: null, tool_calls: calls.map((call) => ({ function: named(call) })) }),
  },
  functions: each(({ name, args: given }, json) => `<function=${name}>${json(given)}</function>`),
  'functions in tags': each(({ name, args: given }, json) => {
    return `<tool_call>\n<function=${name}>${json(given)}</function>\n</tool_call>`
  }),
}

const prose = fc.constantFrom(
  '',
  '',
  'I look at it.\n',
  'Let me check the weather in 東京 – it\'s "near":\n\n',
  'First, `ls` and then:\n',
  'Sets {a, b} and a < b [1].\n',
  'Done so far:\n- one\n- two\n\n',
)
const thought = fc.constantFrom(
  '',
  '',
  '<think>\nThe user wants it. {"name": "shell", "arguments": {}}?\n</think>\n\n',
  '<think>\n\n</think>\n\n',
  '\n<think>Hm <tool_call>{"name": "shell", "arguments": {}}</tool_call></think>',
)

export interface WrittenReply {
  form: string
  calls: WrittenCall[]
  /** The text before the calls, without the reasoning. */
  prose: string
  thought: string
  text: string
}

export const writtenReply: fc.Arbitrary<WrittenReply> = fc
  .record({
    form: fc.constantFrom(...Object.keys(FORMS)),
    calls: fc.array(writtenCall, { minLength: 1, maxLength: 3 }),
    spacing: fc.constantFrom(...SPACINGS),
    prose,
    thought,
    fence: fc.constantFrom('', '', '```json\n'),
    end: fc.constantFrom('', '', '\n'),
  })
  .map(({ form, calls: given, spacing, prose: before, thought: first, fence, end }): WrittenReply => {
    const { several, write } = FORMS[form] as Form
    const calls = several ? given : given.slice(0, 1)
    const written = write(calls, spacing)
    const whole = fence ? `${fence}${written}\n\`\`\`` : written
    return { form, calls, prose: before, thought: first, text: `${first}${before}${whole}${end}` }
  })
