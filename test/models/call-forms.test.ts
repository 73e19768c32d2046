/** Calls in the forms of other protocols: which of them run, which are quotations, and which are no calls. */
import { describe, expect, it } from 'vitest'
import { jsonActions } from '../../src/models/actions/json-actions.ts'
import { ask, callsOf, LS, QUESTION, READS } from '../support/asking-actions.ts'

describe('a call in a form of other protocols', () => {
  const HERMES = '<tool_call>{"name": "shell", "arguments": {"command": "ls"}}</tool_call>'
  const LLAMA = '{"name": "shell", "parameters": {"command": "ls"}}'
  const ls = ['shell', { command: 'ls' }]

  it.each([
    `Now ${HERMES} and then we see.`,
    `I refuse to run "${HERMES}".`,
    `[TOOL_CALLS] [${LLAMA}] and more`,
    `<function=shell>{"command": "ls"}</function>?`,
    `<|python_tag|>${LLAMA}<|eom_id|>\nuser: thanks`,
  ])('is meant at any place if a mark stands before it: %j', async (text) => {
    expect(await callsOf(text)).toEqual([ls])
  })

  it.each([
    `Like this:\n\`\`\`\nSay:\n${HERMES}\n\`\`\`\nDo you see?`,
    `I refuse to run \`${HERMES}\`.`,
    `I refuse to run ${LLAMA}`,
    `I refuse to run this:\n${LLAMA}\nIt would delete everything.`,
    `[${LLAMA}] is what I was told to run.`,
    `{"tool_calls": [${LLAMA}]} is what I was told to run.`,
  ])('does not run where it may be a quotation, and says why: %j', async (text) => {
    const [[name, reason] = []] = await callsOf(text)
    expect(name).toBe('shell')
    expect(reason).toMatch(/^\(not run: an action must end your reply/)
  })

  it('runs from a quotation, too, if its tool changes nothing', async () => {
    expect((await ask(`I look with ${LLAMA}, then tell you.`, QUESTION, READS)).toolCalls).toHaveLength(1)
  })

  it('is no call if its tool does not exist, or if it has something that no call has', async () => {
    for (const text of [
      '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
      '[TOOL_CALLS][{"name": "rm", "arguments": {}}]',
      '<function=rm>{"a": 1}</function>',
      '{"tool_calls": [{"function": {"name": "rm", "arguments": "{}"}}]}',
      '{"name": "shell", "parameters": {"command": "ls"}, "description": "Runs a command"}',
      '{"name": "shell", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}',
      '{"name": "shell"}',
      '{"name": "shell", "arguments": ["ls"]}',
    ]) {
      expect(await ask(text)).toMatchObject({ content: text, shown: text, toolCalls: [] })
    }
  })

  it('that was invented beside one that exists is answered too', async () => {
    const text = `${HERMES}\n<tool_call>{"name": "rm", "arguments": {}}</tool_call>`
    expect(await callsOf(text)).toEqual([ls, ['rm', {}]])
  })

  it('may lack its arguments after a mark, and the model is told when the arguments are invalid', async () => {
    expect(await callsOf('<tool_call>{"name": "shell"}</tool_call>')).toEqual([['shell', {}]])
    const [[, reason] = []] = await callsOf('<tool_call>{"name": "shell", "arguments": "ls"}</tool_call>')
    expect(reason).toMatch(/^\(not run: your arguments are no JSON object/)
  })

  it('may be written as Python after a mark', async () => {
    const text = `I look.\n<tool_call>{'name': 'shell', 'arguments': {'command': 'ls',}}</tool_call>`
    expect(await callsOf(text)).toEqual([ls])
  })

  it('does not run after a result that the model has made up', async () => {
    const [first, [, reason] = []] = await callsOf(`${HERMES}\n<tool_response>a.txt</tool_response>\n${HERMES}`)
    expect(first).toEqual(ls)
    expect(reason).toMatch(/^\(not run: it stands behind a result that you made up/)
  })

  it.each([
    '<tool_call>{"name": "shell", "arguments": {"command": "rm -r /tmp',
    '[TOOL_CALLS][{"name": "shell", "arguments": {"command": "rm -r /tmp',
    '<function=shell>{"command": "rm -r /tmp',
    '{"tool_calls": [{"id": "a", "type": "function", "function": {"name": "shell", "arguments": "{\\"command',
  ])('does not run when its text ends early: %j', async (text) => {
    const { toolCalls, shown } = await ask(text)
    expect({ names: toolCalls.map(({ name }) => name), shown }).toEqual({ names: ['shell'], shown: '' })
    expect(toolCalls[0]?.arguments).toMatch(/^\(not run: .*cut off/)
  })
})

describe('a thought before the answer', () => {
  it('is no part of the answer', async () => {
    expect(await ask('<think>Hm.</think>\n\nRain.')).toMatchObject({ content: 'Rain.', shown: 'Rain.' })
    const { content } = await jsonActions(async () => '<think>Hm.</think>Rain.').complete(QUESTION)
    expect(content).toBe('Rain.')
  })

  it('runs nothing', async () => {
    expect(await ask(`<think>\n${LS}\n</think>No.`)).toMatchObject({ content: 'No.', toolCalls: [] })
  })

  it('that does not end is text, so that nothing is lost', async () => {
    expect(await ask('<think>Rain')).toMatchObject({ content: '<think>Rain', shown: '<think>Rain' })
  })
})
