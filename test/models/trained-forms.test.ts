/** Properties of `jsonActions` over calls in the forms that open models are trained on, streamed in any pieces. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Completion, ModelDelta, ToolSpec } from '../../src/core/model.ts'
import { jsonActions } from '../../src/models/actions/json-actions.ts'
import { FORMS, TOOLS, writtenCall, writtenReply, type WrittenCall } from '../support/trained-forms.ts'

interface Shown {
  text: string
  reasoning: string
  /** The pieces of each call, by index. */
  calls: { id: string; name: string; arguments: string; pieces: number }[]
}

/** @param cuts where the reply is cut into pieces, as parts of its length */
async function ask(text: string, { cuts = [] as number[], tools = TOOLS, stream = true } = {}) {
  const deltas: ModelDelta[] = []
  const ends = [...cuts.map((cut) => Math.floor(cut * text.length)), text.length].sort((one, other) => one - other)
  const inner = {
    async complete(_: unknown, { onDelta }: { onDelta?: (delta: ModelDelta) => void } = {}): Promise<Completion> {
      if (stream) ends.forEach((end, i) => onDelta?.({ type: 'text', text: text.slice(ends[i - 1] ?? 0, end) }))
      return { content: text, toolCalls: [], usage: { inputTokens: 1, outputTokens: 1 }, finishReason: 'stop' }
    },
  }
  const completion = await jsonActions(inner).complete([{ role: 'user', content: 'go' }], {
    tools,
    onDelta: (delta) => deltas.push(delta),
  })
  return { ...completion, shown: joined(deltas) }
}

function joined(deltas: ModelDelta[]): Shown {
  const shown: Shown = { text: '', reasoning: '', calls: [] }
  for (const delta of deltas) {
    if (delta.type === 'text') shown.text += delta.text
    else if (delta.type === 'reasoning') shown.reasoning += delta.text
    else {
      const known = shown.calls[delta.index]
      const anew = !known || (delta.id !== undefined && delta.id !== known.id)
      const call = anew ? { id: delta.id ?? '', name: delta.name ?? '', arguments: '', pieces: 0 } : known
      call.arguments += delta.arguments
      call.pieces++
      shown.calls[delta.index] = call
    }
  }
  return shown
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
const parsed = (calls: { name: string; arguments: string }[]): WrittenCall[] =>
  calls.map(({ name, arguments: args }) => ({ name, args: JSON.parse(args) as Record<string, unknown> }))

describe('calls in the forms that open models are trained on', () => {
  it('arrive exactly as they were written, with the prose before them', async () => {
    await fc.assert(
      fc.asyncProperty(writtenReply, async ({ text, calls, prose }) => {
        const { toolCalls, content, finishReason } = await ask(text, { stream: false })
        expect(parsed(toolCalls)).toEqual(calls)
        expect({ content, finishReason }).toEqual({ content: prose.trimEnd(), finishReason: 'tool_calls' })
      }),
      { numRuns: 2000 },
    )
  })

  it('stream in as the same calls, texts and thoughts, however the reply is cut', async () => {
    await fc.assert(
      fc.asyncProperty(writtenReply, cuts, async ({ text, calls, thought }, at) => {
        const whole = await ask(text, { stream: false })
        const { toolCalls, content, shown } = await ask(text, { cuts: at })
        expect({ toolCalls, content }).toEqual({ toolCalls: whole.toolCalls, content: whole.content })
        expect(shown.text).toBe(content)
        expect(shown.reasoning).toBe(thought.trim().replace(/^<think>|<\/think>$/g, ''))
        expect(parsed(shown.calls)).toEqual(calls)
        expect(shown.calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }))).toEqual(toolCalls)
      }),
      { numRuns: 2000 },
    )
  })

  it.each(Object.keys(FORMS))('show their arguments before they are whole: %s', async (form) => {
    const call = { name: 'shell', args: { command: 'find . -name "*.ts"', options: { deep: [1, 2.5, true, null] } } }
    const text = `I look.\n${FORMS[form]?.write([call], JSON.stringify) ?? ''}`
    const cutsOfEach = Array.from(text, (_, i) => i / text.length)
    const { shown } = await ask(text, { cuts: cutsOfEach })
    // The name must come first.
    expect(shown.calls[0]?.pieces).toBeGreaterThan(form === 'hermes, arguments first' ? 0 : 20)
    expect(parsed(shown.calls)).toEqual([call])
  })

  it('never run when the tool does not exist', async () => {
    const tools: ToolSpec[] = [{ name: 'other', description: '', parameters: {} }]
    await fc.assert(
      fc.asyncProperty(writtenReply, cuts, async ({ text, thought }, at) => {
        const { toolCalls, content, shown } = await ask(text, { cuts: at, tools })
        expect({ toolCalls, calls: shown.calls }).toEqual({ toolCalls: [], calls: [] })
        expect(shown.text).toBe(content)
        expect(content).toBe(thought === '' ? text : text.slice(thought.length).trimStart())
      }),
    )
  })
})

/** Our own form. */
const action = writtenCall
  .filter(({ args }) => !('action' in args || 'params' in args))
  .map(({ name, args }) => ({ call: { name, args }, text: JSON.stringify({ action: name, ...args }) }))

it('an action of our own form streams in as the same call, however the reply is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      action,
      fc.constantFrom('', 'I look:\n', '```json\n', 'Not {"a": 1}, but\n'),
      cuts,
      async ({ call, text }, before, at) => {
        const { toolCalls, content, shown } = await ask(before + text, { cuts: at })
        expect(parsed(toolCalls)).toEqual([call])
        expect(shown.text).toBe(content)
        expect(shown.calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }))).toEqual(toolCalls)
      },
    ),
    { numRuns: 2000 },
  )
})

const scrap = fc.constantFrom(
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  ':',
  ',',
  '`',
  '```',
  'json',
  '\n',
  ' ',
  '<think>',
  '</think>',
  'shell',
  '{"a": 1}',
  '<tool_call>',
  '</tool_call>',
  '[TOOL_CALLS]',
  '[ARGS]',
  '<|python_tag|>',
  '<function=shell>',
  '</function>',
  '; ',
  '"name"',
  '"arguments"',
  '"parameters"',
  '"action"',
  '{"action": "shell"}',
  '{"name": "shell", "arguments": {}}',
  '🌧️',
  '{"tool_calls": [',
  '"function": {',
  '}}',
  'tool output:',
  '<tool_response>',
  "'",
  '\\u00',
  'é',
)
const scraps = fc.array(scrap, { maxLength: 30 }).map((all) => all.join(''))

it('any text gives the same calls, and shows all of its answer, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(scraps, fc.string({ unit: 'binary' })), cuts, async (text, at) => {
      const whole = await ask(text, { stream: false })
      const { toolCalls, content, shown } = await ask(text, { cuts: at })
      expect({ toolCalls, content }).toEqual({ toolCalls: whole.toolCalls, content: whole.content })
      expect(shown.text).toBe(content)
      for (const [index, { id, name }] of toolCalls.entries()) expect(shown.calls[index]).toMatchObject({ id, name })
    }),
    { numRuns: 5000 },
  )
})

it('prose is never a call, and is shown whole', async () => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      'the tool shell',
      '"name": "shell"',
      '{x | x < 3}',
      'a[0]',
      '```js\nf({ a: 1 })\n```',
      '<b>',
      '{"city": "Oslo"}',
    ),
    fc.constantFrom('[TOOL_CALLS] is a token', '<tool_call> begins a call', '{"name": "shell"}', 'arguments', '`{}`'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(word), cuts, async (words, at) => {
      const text = words.join(' ')
      const { toolCalls, content, shown } = await ask(text, { cuts: at })
      expect({ toolCalls, content, text: shown.text, calls: shown.calls }).toEqual({
        toolCalls: [],
        content: text,
        text,
        calls: [],
      })
    }),
    {
      numRuns: 2000,
      examples: [
        [['{"name": "shell"}', '}'], []],
        [['{', '"name": "shell"'], []],
      ],
    },
  )
})
