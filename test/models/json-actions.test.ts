import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { buildToolsPrompt, generateToolsPrompt } from '../../src/agent/tools-prompt.ts'
import { jsonActions } from '../../src/models/actions/json-actions.ts'
import { scriptedModel, type Reply } from '../../src/testing/index.ts'
import { ask, callsOf, LS, QUESTION, READS, TOOLS } from '../support/asking-actions.ts'

async function shownTo(messages: Message[]): Promise<Message[]> {
  const { asked } = await ask('Done.', [...QUESTION, ...messages])
  return asked.slice(2)
}

describe('an action in a reply', () => {
  const alone = [LS, `  ${LS} \n`, `I look:\n${LS}`, `I look:\n\`\`\`json\n${LS}\n\`\`\`\n`, `<think>Hm.</think> ${LS}`]
  const among = [`I look:\n\`\`\`json\n${LS}\n\`\`\`\nLet me proceed…`, `Sure. ${LS} And then?`, `Sure: \`${LS}\``]
  const call = {
    finishReason: 'tool_calls',
    toolCalls: [{ id: 'call_1', name: 'shell', arguments: '{"command":"ls"}' }],
  }
  it.each(alone)('that ends the reply becomes a call: %j', async (text) => {
    expect(await ask(text)).toMatchObject(call)
  })

  it.each([...alone, ...among])(
    'of a tool that changes nothing becomes a call wherever it stands: %j',
    async (text) => {
      expect(await ask(text, QUESTION, READS)).toMatchObject(call)
    },
  )

  it('that is only quoted gives way to the one at the end of the reply', async () => {
    const { toolCalls, content, shown } = await ask(`Not {"action": "send", "params": 1}, but:\n${LS}`)
    expect(toolCalls).toMatchObject([{ id: 'call_1_1', name: 'shell', arguments: '{"command":"ls"}' }])
    expect(content).toBe('Not {"action": "send", "params": 1}, but:')
    expect(shown).toBe(content)
  })

  it('may nest its parameters, and may be written as in other protocols', async () => {
    expect(await callsOf('{"action": "shell", "params": {"command": "ls"}}')).toEqual([['shell', { command: 'ls' }]])
    expect(await callsOf('{"tool": "shell", "arguments": {"command": "ls"}}')).toEqual([['shell', { command: 'ls' }]])
    expect(await callsOf('{"name": "shell", "input": {"command": "ls"}}')).toEqual([['shell', { command: 'ls' }]])
  })

  it('keeps the parameters of tools that have an `action` or `params` of their own', async () => {
    expect(await callsOf('{"action": "judge", "params": {"action": "x"}}')).toEqual([['judge', { action: 'x' }]])
    expect(await callsOf('{"action": "send", "params": {"a": 1}}')).toEqual([['send', { params: { a: 1 } }]])
    expect(await callsOf('{"action": "send", "params": {"params": 1}}')).toEqual([['send', { params: 1 }]])
  })

  it('may have punctuation that can be mended', async () => {
    for (const text of ['{"action": "shell", "command": "ls",}', `{'action': 'shell', 'command': 'ls'}`]) {
      expect(await callsOf(text)).toEqual([['shell', { command: 'ls' }]])
    }
  })

  it('wins if its tool exists; if no tool of the reply exists, it is passed on', async () => {
    expect(await callsOf(`Like {"action": "x"}:\n${LS}`)).toEqual([['shell', { command: 'ls' }]])
    expect(await callsOf('{"action": "x", "y": 1}')).toEqual([['x', { y: 1 }]])
  })

  it('carries no prototype', async () => {
    const { toolCalls } = await ask('{"action": "shell", "__proto__": {"x": 1}, "command": "ls"}')
    expect(toolCalls[0]?.arguments).toBe('{"command":"ls"}')
  })

  it('never shows as text, while the prose before it does', async () => {
    const { shown, content } = await ask(`I look around.\n\n\`\`\`json\n${LS}\n\`\`\``)
    expect({ shown, content }).toEqual({ shown: 'I look around.', content: 'I look around.' })
    expect(await ask(LS)).toMatchObject({ shown: '', content: '' })
  })
})

describe('a reply without an action', () => {
  for (const text of [
    'Rain in\n  both – 🌧️ ',
    'Use `ls` or {braces}.',
    '{"city": "Oslo"}',
    '{"name": "Bo", "input": {}}',
  ]) {
    it(`is an answer, shown as it is: ${JSON.stringify(text)}`, async () => {
      expect(await ask(text)).toMatchObject({ content: text, shown: text, toolCalls: [], finishReason: 'stop' })
    })
  }

  it('keeps why it ended', async () => {
    expect(await ask({ content: 'Rain in', finishReason: 'length' })).toMatchObject({ finishReason: 'length' })
    expect(await ask({ content: LS, finishReason: 'refusal' })).toMatchObject({
      finishReason: 'refusal',
      toolCalls: [],
    })
  })

  it('is plain text whatever it holds when there are no tools', async () => {
    const { content, toolCalls } = await jsonActions(async () => LS).complete(QUESTION)
    expect({ content, toolCalls }).toEqual({ content: LS, toolCalls: [] })
  })
})

describe('an action that must not run has arguments that no tool takes, and says why', () => {
  const cases: [string, Reply, RegExp][] = [
    ['because its text ends early', '{"action": "shell", "command": "rm -r /tmp', /cut off/],
    ['because the model hit its limit', { content: LS, finishReason: 'length' }, /cut off/],
    ['because it is no JSON', '{"action": "shell", "command": ls -l, "x"}', /not valid/],
    ['because it leaves something out', '{"action": "shell", "command": "cat > a", ...}', /not valid/],
    ['because quotes in it may end a string', '{"action": "shell", "command": "echo "a", "b": c"}', /not valid/],
    ['because more follows that belongs to it', `${LS}, "replace_all": true}`, /not valid: more text follows/],
    ['because an object follows that belongs to it', `${LS}, {"replace_all": true}`, /not valid: more text follows/],
    ['because it ends once too often', `${LS}}`, /not valid: more text follows/],
    ['because it holds a comment', `${LS.slice(0, -1)}  # or "dir"\n}`, /not valid/],
    ['because its text ends early, in words of Python', `{'action': 'shell', 'command': 'rm -r /tmp`, /cut off/],
    [
      'because the model hit its limit, though it could be mended',
      { content: `${LS.slice(0, -1)},}`, finishReason: 'length' },
      /cut off/,
    ],
    [
      'because the reply is too long',
      `Like f("{") { "x" }: {"action": "shell", "command": "${'x'.repeat(300_000)}"}`,
      /too large/,
    ],
  ]
  for (const [why, reply, reason] of cases) {
    it(why, async () => {
      const { toolCalls, shown, finishReason } = await ask(reply)
      expect({ shown, finishReason, names: toolCalls.map(({ name }) => name) }).toEqual({
        shown: expect.not.stringContaining('action') as string,
        finishReason: 'tool_calls',
        names: ['shell'],
      })
      expect(toolCalls[0]?.arguments).toMatch(reason)
      expect(() => JSON.parse(toolCalls[0]?.arguments ?? '')).toThrow(SyntaxError)
    })
  }

  it.each([
    `I refuse to run ${LS}`,
    `I refuse to run ${LS}.`,
    `I refuse to run \`${LS}\``,
    `I refuse to run this:\n${LS}\nIt would delete everything.`,
    `I refuse to run this:\n\`\`\`json\n${LS}\n\`\`\`\nIt would delete everything.`,
    `${LS} is what I was told to run, and will not.`,
    `> ${LS}`,
    `- ${LS}`,
    `"${LS}"`,
    `${LS}\ntool output: done`,
    `${LS}\n{"note": "I will not run this"}`,
    `First {"action": "send", "params": 1}, then ${LS}`,
  ])('because it is only quoted: %j', async (text) => {
    const { toolCalls } = await ask(text)
    expect(toolCalls[0]?.arguments).toMatch(/^\(not run: an action must end your reply/)
    for (const { arguments: args } of toolCalls) expect(() => JSON.parse(args)).toThrow(SyntaxError)
    const said = await shownTo([{ role: 'assistant', content: '', toolCalls: toolCalls.slice(0, 1) }])
    expect(text).toContain(said[0]?.content)
  })

  it('because it is not the first', async () => {
    const { toolCalls } = await ask(`${LS}\n{"action": "send", "params": 1}`)
    expect(toolCalls).toEqual([
      { id: 'call_1', name: 'shell', arguments: '{"command":"ls"}' },
      {
        id: 'call_1_1',
        name: 'send',
        arguments: '(not run: only the first action of a reply runs)\n{"action": "send", "params": 1}',
      },
    ])
  })
})

describe('the model is shown', () => {
  it('the protocol and the tools behind its system prompt, or as one', async () => {
    const { asked } = await ask('Hi', [{ role: 'system', content: 'You are xclaw.' }, ...QUESTION])
    expect(asked).toHaveLength(2)
    expect(asked[0]?.content).toMatch(/^You are xclaw\.\n\nTo use a tool/)
    expect(asked[0]?.content).toContain(`\n\n${generateToolsPrompt(TOOLS)}`)
    expect((await ask('Hi')).asked[0]).toMatchObject({ role: 'system' })
  })

  it('the tools in another form where one is given', async () => {
    const inner = scriptedModel(['Hi'])
    await jsonActions(inner, { toolsPrompt: buildToolsPrompt }).complete(QUESTION, { tools: TOOLS })
    expect(inner.calls[0]?.messages[0]?.content).toContain(
      '\n\n### shell\nExecute a command\nParameters:\n  - command (string): The command',
    )
  })

  it('its calls as it wrote them, and their results as user messages', async () => {
    const exchange: Message[] = [
      {
        role: 'assistant',
        content: 'I look.',
        toolCalls: [{ id: 'a', name: 'shell', arguments: '{"command":"ls"}' }],
      },
      { role: 'tool', content: LS, toolCallId: 'a', name: 'shell' },
    ]
    expect(await shownTo(exchange)).toEqual([
      { role: 'assistant', content: 'I look.\n\n{"action":"shell","command":"ls"}' },
      { role: 'user', content: `tool output:\n${LS}` },
    ])
  })

  it('failures and unknown tools in the words of the protocol', async () => {
    const failed = (content: string): Message => ({ role: 'tool', toolCallId: 'a', isError: true, content })
    expect(
      await shownTo([failed('no such file'), failed('TOOL_NOT_FOUND: unknown tool "x". Available: shell')]),
    ).toEqual([
      { role: 'user', content: 'tool error:\nno such file' },
      { role: 'user', content: 'error: unknown tool "x". Available: shell' },
    ])
  })

  it('what it wrote in an action that did not run', async () => {
    const cut = '{"action": "shell", "command": "rm -r /tmp'
    const { content, toolCalls } = await ask(cut)
    expect(await shownTo([{ role: 'assistant', content, toolCalls }])).toEqual([{ role: 'assistant', content: cut }])
  })

  it('parameters named like the protocol in the nested form', async () => {
    const toolCalls = [{ id: 'a', name: 'judge', arguments: '{"action":"x"}' }]
    expect(await shownTo([{ role: 'assistant', content: '', toolCalls }])).toEqual([
      { role: 'assistant', content: '{"action":"judge","params":{"action":"x"}}' },
    ])
  })
})

describe('jsonActions', () => {
  it('takes a function from messages to text', async () => {
    const model = jsonActions(async (messages) => (messages.at(-1)?.content === 'What is here?' ? LS : 'No.'))
    const { toolCalls, usage } = await model.complete(QUESTION, { tools: TOOLS })
    expect(toolCalls).toMatchObject([{ name: 'shell' }])
    expect(usage).toEqual({ inputTokens: 0, outputTokens: 0 })
    await expect(model.complete(QUESTION, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i)
  })

  it('is named like its model unless told otherwise', () => {
    expect(jsonActions(scriptedModel([], { name: 'gemma' })).name).toBe('gemma')
    expect(jsonActions(scriptedModel([]), { name: 'mine' }).name).toBe('mine')
  })

  it('allows ten model calls for a message: nine rounds and the answer', () => {
    expect(jsonActions(scriptedModel([])).maxToolRounds).toBe(9)
  })

  it('gives the calls of every round of a session other ids', async () => {
    const { toolCalls } = await ask(LS, [...QUESTION, ...QUESTION])
    expect(toolCalls[0]?.id).toBe('call_2')
  })
})
