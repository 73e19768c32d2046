import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { replyBy, scriptedModel, type Rule } from '../../src/testing/index.ts'

const user = (content: string): Message[] => [{ role: 'user', content }]
const exchange = (...names: string[]): Message[] => [
  ...user('look'),
  { role: 'assistant', content: '', toolCalls: names.map((name, i) => ({ id: `${i}`, name, arguments: '{}' })) },
  ...names.map((name, i): Message => ({ role: 'tool', content: 'done', toolCallId: `${i}`, name })),
]

describe('scriptedModel', () => {
  it('goes through a list in order and says when it has ended', async () => {
    const model = scriptedModel(['one', { error: { code: 'MODEL_UNAVAILABLE', message: 'away' } }, 'two'])
    expect(await model.complete(user('a'))).toMatchObject({ content: 'one' })
    await expect(model.complete(user('b'))).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', message: 'away' })
    expect(await model.complete(user('b'))).toMatchObject({ content: 'two' })
    await expect(model.complete(user('c'))).rejects.toMatchObject({
      code: 'MODEL_REFUSED_REQUEST',
      message: 'model scripted: no reply for call 4, the script has 3',
    })
  })

  it('answers the same conversation the same way, ids of calls included', async () => {
    const reply = { toolCalls: [{ name: 'look' }, { name: 'look' }] }
    const first = await scriptedModel(() => reply).complete(user('a'))
    const model = scriptedModel(() => reply)
    await model.complete(user('of another session'))
    expect(await model.complete(user('a'))).toEqual(first)
    const ids = [...first.toolCalls, ...(await model.complete(exchange('look'))).toolCalls].map(({ id }) => id)
    expect(new Set(ids).size).toBe(4)
  })

  it('remembers what it was asked, as it was at that time', async () => {
    const model = scriptedModel(() => 'yes')
    const messages = user('a')
    await model.complete(messages, { tools: [{ name: 'look', description: '', parameters: {} }] })
    messages.push({ role: 'assistant', content: 'yes' })
    await model.complete(messages)
    expect(model.calls).toMatchObject([
      { call: 0, messages: user('a'), tools: [{ name: 'look' }] },
      { call: 1, messages: [{ role: 'user' }, { role: 'assistant' }], tools: [] },
    ])
    expect(model.calls[0]?.messages).toHaveLength(1)
  })

  it('streams in the given pieces, else in words', async () => {
    const texts: string[] = []
    const model = scriptedModel([{ deltas: ['o', 'n', 'e'] }, ' two  words\n', '   '])
    const stream = async (): Promise<string[]> => {
      texts.length = 0
      await model.complete([], { onDelta: (delta) => delta.type === 'text' && texts.push(delta.text) })
      return [...texts]
    }
    expect(await stream()).toEqual(['o', 'n', 'e'])
    expect(await stream()).toEqual([' two', '  words\n'])
    expect(await stream()).toEqual(['   '])
  })

  it('leaves a delay at once when it is aborted', async () => {
    const abort = new AbortController()
    const answer = scriptedModel([{ delay: 3_600_000, content: 'late' }]).complete(user('a'), { signal: abort.signal })
    abort.abort(new Error('enough'))
    await expect(answer).rejects.toThrow('enough')
  })
})

describe('replyBy', () => {
  const rules: Rule[] = [
    [{ tool: 'get_weather' }, 'It rains.'],
    ['weather', { toolCalls: [{ name: 'get_weather' }] }],
    [/^count/g, ({ messages }) => `${messages.length}`],
    [(last) => last.content === 'done', 'All done.'],
  ]
  const reply = async (messages: Message[]): Promise<unknown> => replyBy(rules)({ messages, tools: [], call: 0 })

  it('replies by the first rule that matches the end of the conversation', async () => {
    expect(await reply(user('the weather?'))).toEqual({ toolCalls: [{ name: 'get_weather' }] })
    expect(await reply(exchange('get_weather'))).toBe('It rains.')
    expect(await reply(exchange('search'))).toBe('All done.')
  })

  it('finds a result among those of several tools', async () => {
    expect(await reply(exchange('get_weather', 'search'))).toBe('It rains.')
  })

  it('takes results of earlier rounds for past', async () => {
    expect(await reply([...exchange('get_weather'), ...exchange('search').slice(1)])).toBe('All done.')
  })

  it('gives the same reply again, also for a pattern that remembers its place', async () => {
    const script = replyBy(rules)
    const request = { messages: user('count'), tools: [], call: 0 }
    expect([script(request), script(request)]).toEqual(['1', '1'])
  })

  it('shows the end of a conversation that no rule fits', async () => {
    await expect(reply(user('sing'))).rejects.toMatchObject({
      code: 'MODEL_REFUSED_REQUEST',
      message: "none of the 4 rules matches; the conversation ends with user 'sing'",
    })
  })
})
