import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { describe, expect, it } from 'vitest'
import type { Message, Part } from '../../src/core/message.ts'
import { toChatMessages as toSent, toChatTools } from '../../src/models/openai/chat-messages.ts'

function toChatMessages(messages: Message[], provider = ''): ChatCompletionMessageParam[] {
  return toSent(messages, provider).map(({ param }) => param)
}

const image: Part = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
const imageUrl = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

function calling(...calls: [id: string, args: string][]): Message {
  return {
    role: 'assistant',
    content: '',
    toolCalls: calls.map(([id, args]) => ({ id, name: 'look', arguments: args })),
  }
}

function result(id: string, content: string, parts?: Part[]): Message {
  return { role: 'tool', content, toolCallId: id, name: 'look', ...(parts && { parts }) }
}

function argumentsSent(text: string): unknown {
  const [message] = toChatMessages([calling(['a', text])])
  return message?.role === 'assistant'
    ? message.tool_calls?.map((call) => 'function' in call && call.function.arguments)[0]
    : undefined
}

describe('messages', () => {
  it('of text keep their role and content', () => {
    const messages: Message[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ]
    expect(toChatMessages(messages)).toEqual(messages)
  })

  it('that only call tools have no content, and results name their call', () => {
    expect(toChatMessages([calling(['a', '{"n":1}']), result('a', 'seen')])).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"n":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
    ])
  })

  it('of a user may show images beside their text, or alone', () => {
    expect(
      toChatMessages([
        { role: 'user', content: 'What is it?', parts: [image] },
        { role: 'user', content: '', parts: [image] },
      ]),
    ).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'What is it?' }, imageUrl] },
      { role: 'user', content: [imageUrl] },
    ])
  })

  it('without anything in them are left out when the model said them', () => {
    expect(
      toChatMessages([
        { role: 'assistant', content: '' },
        { role: 'user', content: 'Well?' },
      ]),
    ).toEqual([{ role: 'user', content: 'Well?' }])
  })
})

describe('images in tool results', () => {
  const asked = calling(['a', '{}'], ['b', '{}'])

  it('follow in a user message after all results of the answer', () => {
    const roles = toChatMessages([
      asked,
      result('a', '', [image]),
      result('b', 'text'),
      { role: 'assistant', content: 'Done' },
    ])
    expect(roles.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user', 'assistant'])
    expect(roles[3]?.content).toEqual([{ type: 'text', text: 'What look (a) returned:' }, imageUrl])
  })

  it('come last when the conversation ends with the results, and are shown once', () => {
    const sent = toChatMessages([asked, result('a', 'x', [image]), result('b', '', [image])])
    expect(sent.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user'])
    expect(sent[2]?.content).toBe('(images below)')
    expect(sent[3]?.content).toHaveLength(4)
  })
})

describe('arguments of past calls', () => {
  it('are sent as the model wrote them when they are a JSON object', () => {
    expect(argumentsSent('{ "n" : 1 }')).toBe('{ "n" : 1 }')
  })

  it('become valid JSON when they were not: providers would refuse the conversation for good', () => {
    expect(argumentsSent('{"n":')).toBe('{"invalid":"{\\"n\\":"}')
    expect(argumentsSent('[1]')).toBe('{"invalid":"[1]"}')
    expect(argumentsSent(' ')).toBe('{}')
  })
})

describe('tools', () => {
  it('are functions with name, description and parameters', () => {
    const parameters = { type: 'object', properties: {} }
    expect(toChatTools([{ name: 'look', description: 'Looks', parameters }])).toEqual([
      { type: 'function', function: { name: 'look', description: 'Looks', parameters } },
    ])
  })
})
