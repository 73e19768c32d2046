/** A model that knows only text, in a real session. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { CompleteOptions, Completion } from '../../src/core/model.ts'
import { BaseTool } from '../../src/tool/base-tool.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { jsonActions } from '../../src/models/actions/json-actions.ts'
import { withToolsPrompt } from '../../src/models/actions/with-tools-prompt.ts'
import { scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'

const stello = useStello()

it('a text model calls tools, and learns why an action did not run', async () => {
  const ran: string[] = []
  const shell = tool(
    'shell',
    'Executes a command',
    z.object({ command: z.string().optional() }),
    ({ command = '' }) => {
      ran.push(command)
      return `ran ${command}`
    },
  )
  const replies = [
    'Look:\n```json\n{"action": "shell", "command": "find . \\;"}\n```',
    '{"action": "shel"}',
    '{"action": "shell", "command": "rm -r /tm',
    '{"action": "shell", "command": "a"} {"action": "shell", "command": "b"}',
  ]
  const seen: string[] = []
  const llm = jsonActions(async (messages) => {
    const results = messages.filter(({ role }) => role === 'user').slice(1)
    seen.splice(0, seen.length, ...results.map(({ content }) => content))
    return replies[messages.filter(({ role }) => role === 'assistant').length] ?? 'Done.'
  })
  const session = await stello.session({ llm, capabilities: { tools: [shell] } })
  expect(await ask(session, 'go')).toBe('Done.')
  expect(ran).toEqual(['find . \\;', 'a'])
  expect(seen).toEqual([
    'tool output:\nran find . \\;',
    expect.stringMatching(/^error: unknown tool "shel"\. Available: .*shell/),
    expect.stringMatching(/^tool error:\n.*cut off/s),
    'tool output:\nran a',
    expect.stringMatching(/^tool error:\n.*only the first action of a reply runs/s),
  ])
})

const again = tool('again', 'Asks for more', z.object({}), () => 'more', { title: 'Once more' })
const goesRound = '{"action": "again"}'

it.each([
  [undefined, 10],
  [2, 3],
])('a model that goes round in circles, with maxToolRounds %s, is asked %i times', async (maxToolRounds, calls) => {
  const llm = scriptedModel(() => goesRound)
  const agent = { llm: jsonActions(llm), capabilities: { tools: [again] } }
  const session = await stello.session({ ...agent, ...(maxToolRounds !== undefined && { maxToolRounds }) })
  const result = await (await session.send('go')).result()
  expect(result).toMatchObject({ stopReason: 'max_tool_rounds', rounds: calls - 1 })
  expect(llm.calls).toHaveLength(calls)
})

it('a reply that its model cut off runs nothing, even if its action looks complete', async () => {
  const ran: string[] = []
  const pay = tool('pay', 'Pays', z.object({ to: z.string() }), ({ to }) => `paid ${ran.push(to)}`)
  const llm = scriptedModel([{ content: '{"action": "pay", "to": "Bo"} and', finishReason: 'length' }, 'Done.'])
  const session = await stello.session({ llm: jsonActions(llm), capabilities: { tools: [pay] } })
  expect(await ask(session, 'go')).toBe('Done.')
  expect(llm.calls[1]?.messages.at(-1)?.content).toMatch(/^tool error:\nTOOL_VALIDATION_ERROR: .*cut off/s)
  expect(ran).toEqual([])
})

it('people see the text before an action while it streams, but never the action', async () => {
  const gate = createGate()
  const reply = `I look.\n\n${goesRound}`
  const inner = {
    async complete(_messages: unknown, { onDelta }: CompleteOptions = {}): Promise<Completion> {
      for (const text of ['I ', 'look.\n', '\n{"ac', 'tion": "again"}']) onDelta?.({ type: 'text', text })
      await gate.pass()
      return { content: reply, toolCalls: [], usage: { inputTokens: 1, outputTokens: 1 }, finishReason: 'stop' }
    },
  }
  const session = await stello.session({ llm: jsonActions(inner), maxToolRounds: 0, capabilities: { tools: [again] } })
  const turn = await session.send('go')
  await gate.reached()
  const streaming = await eventsUntil(session, ({ type }) => type === 'message.delta', { live: true })
  expect(streaming.at(-1)?.data).toMatchObject({ text: 'I look.' })
  gate.open()
  expect(await turn.result()).toMatchObject({ text: 'I look.' })
  const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
  const shown = events.find(({ type }) => type === 'message.completed')?.data
  expect(shown).toMatchObject({ text: 'I look.', calls: [{ name: 'again', arguments: '{}' }] })
})

class Weather extends BaseTool {
  name = 'weather'
  async getDescription() {
    return { displayName: 'The weather', description: 'Tells the weather' }
  }
  async getParameters() {
    return z.object({ city: z.string().describe('Its name') })
  }
  async execute() {}
}

/** The system prompts of a turn with one round. */
async function promptsOf(llm: ScriptedModel, agent: { llm: Parameters<typeof withToolsPrompt>[0] }): Promise<string[]> {
  const session = await stello.session({
    ...agent,
    systemPrompt: 'Be brief.',
    capabilities: { tools: [again, Weather] },
  })
  await ask(session, 'go')
  return llm.calls.map(({ messages: [system] }) => (system?.role === 'system' ? system.content : ''))
}

const LISTED =
  /^Be brief\.\n.*# Available Tools\n\nYou have access to the following 3 tool\(s\):\n\n## stello_create_session\n.*## again\nDisplay Name: Once more\nDescription: Asks for more\n\nParameters: none\n\n## weather\nDisplay Name: The weather\nDescription: Tells the weather\n\nParameters:\n  - city: string \(required\) - Its name$/s

it('the system prompt of every round lists the session’s tools, built-in ones too', async () => {
  const llm = scriptedModel([goesRound, 'Done.'])
  const prompts = await promptsOf(llm, { llm: jsonActions(llm) })
  expect(prompts).toEqual([expect.stringMatching(LISTED), expect.stringMatching(LISTED)])
})

it('a model that can call tools reads about them in its prompt only when that is asked for', async () => {
  const script = [{ toolCalls: [{ name: 'again' }] }, 'Done.']
  const silent = scriptedModel(script)
  expect(await promptsOf(silent, { llm: silent })).toEqual(['Be brief.', 'Be brief.'])
  const told = scriptedModel(script)
  const prompts = await promptsOf(told, { llm: withToolsPrompt(told) })
  expect(prompts).toEqual([expect.stringMatching(LISTED), expect.stringMatching(LISTED)])
})

it('a tool gets the arguments of a text model’s call while they stream in, in every form of call', async () => {
  const gate = createGate()
  const partial: unknown[] = []
  const write = {
    name: 'write',
    description: 'Writes',
    schema: z.object({ text: z.string() }),
    execute: () => 'written',
    onPartial: (args: Partial<{ text: string }>) => void partial.push(args.text),
  }
  const call = '<tool_call>{"name": "write", "arguments": {"text": "half of it'
  const inner = {
    async complete(messages: unknown[], { onDelta }: CompleteOptions = {}): Promise<Completion> {
      const usage = { inputTokens: 1, outputTokens: 1 }
      if (messages.length > 2) return { content: 'Done.', toolCalls: [], usage, finishReason: 'stop' }
      onDelta?.({ type: 'text', text: `<think>Hm</think>${call}` })
      await gate.pass()
      return { content: `<think>Hm</think>${call} and"}}</tool_call>`, toolCalls: [], usage, finishReason: 'stop' }
    },
  }
  const session = await stello.session({ llm: jsonActions(inner), capabilities: { tools: [write] } })
  const turn = await session.send('go')
  await gate.reached()
  const streaming = await eventsUntil(
    session,
    ({ type, data }) => type === 'tool.status' && 'params' in data && data.params !== undefined,
    { live: true },
  )
  gate.open()
  expect(streaming.filter(({ type }) => type === 'reasoning.delta')).toMatchObject([{ data: { text: 'Hm' } }])
  expect(streaming.filter(({ type }) => type === 'message.delta')).toEqual([])
  expect(streaming.at(-1)?.data).toMatchObject({ name: 'write', status: 'WAIT', params: { text: 'half of it' } })
  expect(partial[0]).toBe('half of it')
  expect(await turn.result()).toMatchObject({ text: 'Done.' })
})

it('an action that turns out to be quoted gives way, while it streams, to the intended one', async () => {
  const gate = createGate()
  const ran: unknown[] = []
  const write = tool('write', 'Writes', z.object({ text: z.string() }), ({ text }) => `wrote ${ran.push(text)}`)
  const quoted = '{"action": "write", "text": "quoted"}\nNot that, but:\n'
  const inner = {
    async complete(messages: unknown[], { onDelta }: CompleteOptions = {}): Promise<Completion> {
      const usage = { inputTokens: 1, outputTokens: 1 }
      if (messages.length > 2) return { content: 'Done.', toolCalls: [], usage, finishReason: 'stop' }
      onDelta?.({ type: 'text', text: quoted })
      onDelta?.({ type: 'text', text: '{"action": "write", "text": "me' })
      await gate.pass()
      const content = `${quoted}{"action": "write", "text": "meant"}`
      return { content, toolCalls: [], usage, finishReason: 'stop' }
    },
  }
  const session = await stello.session({ llm: jsonActions(inner), capabilities: { tools: [write] } })
  const turn = await session.send('go')
  await gate.reached()
  const isCard = ({ data }: { data: unknown }): boolean => JSON.stringify(data).includes('"params":{"text":"me')
  const streaming = await eventsUntil(session, isCard, { live: true })
  expect(streaming.at(-1)?.data).toMatchObject({ name: 'write', status: 'WAIT', params: { text: 'me' } })
  gate.open()
  expect(await turn.result()).toMatchObject({ text: 'Done.' })
  expect(ran).toEqual(['meant'])
})
