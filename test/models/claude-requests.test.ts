/** What Claude is sent: thinking, cache points, images, settings. */
import { describe, expect, it } from 'vitest'
import { toCompletion } from '../../src/activities/model/completion.ts'
import type { Message } from '../../src/core/message.ts'
import type { ModelDelta } from '../../src/core/model.ts'
import { createClaude } from '../../src/models/anthropic/claude.ts'
import type { ClaudeOptions } from '../../src/models/anthropic/claude-options.ts'
import { claudeAt, fakeOf, question, recordOf, result, ROUND, TOOLS } from './claude-at-fake.ts'

describe('thinking', () => {
  it.each(['claude-opus-5-5', 'claude-sonnet-5', 'claude-sonnet-4-6'])(
    'of %s is shown, kept, and goes back unchanged in front of its call',
    async (model) => {
      const fake = await fakeOf(ROUND)
      const claude = claudeAt(fake, { model, thinking: { type: 'adaptive', display: 'summarized' } })
      const deltas: ModelDelta[] = []
      const onDelta = (delta: ModelDelta): void => void deltas.push(delta)
      const first = await claude.complete([question], { tools: TOOLS, onDelta })
      expect(deltas.flatMap((delta) => (delta.type === 'reasoning' ? [delta.text] : [])).join('')).toBe('I must look.')
      expect(first.content).toBe('I look.')
      const records = [question, recordOf(first), result]
      expect((await claude.complete(records, { tools: TOOLS })).content).toBe('Rain.')
      const [, assistant] = fake.requests[1]?.body.messages ?? []
      expect(assistant?.content).toMatchObject([
        { type: 'thinking', thinking: 'I must look.', signature: expect.any(String) as string },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'w1', input: { city: 'Oslo' } },
      ])
    },
  )

  it('that is encrypted goes back too, and older models take a budget', async () => {
    const fake = await fakeOf(ROUND, { redactThinking: true })
    const claude = claudeAt(fake, { model: 'claude-haiku-4-5', thinking: { type: 'enabled', budgetTokens: 2000 } })
    const first = await claude.complete([question], { tools: TOOLS, onDelta: () => {} })
    await claude.complete([question, recordOf(first), result], { tools: TOOLS })
    expect(fake.requests[1]?.body).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2000 },
      max_tokens: 34_000,
      messages: [{}, { content: [{ type: 'redacted_thinking' }, {}, {}] }, {}],
    })
  })

  it('is left out after another prompt, if the model binds it to its prompt', async () => {
    const fake = await fakeOf(ROUND)
    const rules: Message = { role: 'system', content: 'Be brief.' }
    for (const [model, kept] of [
      ['claude-opus-5-5', false],
      ['claude-opus-5', true],
    ] as const) {
      const claude = claudeAt(fake, { model })
      const first = await claude.complete([question], { tools: TOOLS })
      await claude.complete([rules, question, recordOf(first), result], { tools: TOOLS })
      expect(JSON.stringify(fake.requests.at(-1)?.body).includes('"thinking"')).toBe(kept)
    }
  })

  it('is off for one request if another model has begun the round, because a budget demands it there', async () => {
    const fake = await fakeOf(ROUND)
    const claude = claudeAt(fake, { model: 'claude-haiku-4-5', thinking: { type: 'enabled', budgetTokens: 1024 } })
    const other: Message = {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'w1', name: 'weather', arguments: '{}' }],
    }
    expect((await claude.complete([question, other, result], { tools: TOOLS })).content).toBe('Rain.')
    expect(fake.requests[0]?.body.thinking).toBeUndefined()
  })

  it('of more than a record takes is dropped, and the answer stays', async () => {
    const fake = await fakeOf(() => ({ reasoning: 'hm '.repeat(400_000), content: 'Rain.' }))
    const answer = await claudeAt(fake).complete([question])
    expect(toCompletion(answer, 'claude')).toMatchObject({ content: 'Rain.' })
    expect(answer.provider).toBeUndefined()
  })

  it('goes back to the host that has signed it, and to no other that speaks the same API', async () => {
    const [fake, other] = [await fakeOf(ROUND), await fakeOf(ROUND)]
    const first = recordOf(await claudeAt(other).complete([question], { tools: TOOLS }))
    await claudeAt(fake).complete([question, first, result], { tools: TOOLS })
    await claudeAt(other).complete([question, first, result], { tools: TOOLS })
    const thinks = [fake, other].map(({ requests }) => JSON.stringify(requests.at(-1)?.body).includes('"thinking"'))
    expect(thinks).toEqual([false, true])
  })

  it('is not sent when it is off, and never what another provider has written', async () => {
    const fake = await fakeOf(ROUND)
    const first = await claudeAt(fake).complete([question], { tools: TOOLS })
    const mine = { ...recordOf(first), provider: { ...first.provider, openai: { secret: 'theirs' } } }
    await claudeAt(fake).complete([question, mine, result], { tools: TOOLS })
    expect(JSON.stringify(fake.requests.at(-1)?.body)).not.toContain('theirs')
    await claudeAt(fake, { thinking: { type: 'disabled' } }).complete([question, mine, result], { tools: TOOLS })
    expect(JSON.stringify(fake.requests.at(-1)?.body.messages)).not.toContain('"thinking"')
  })
})

describe('a request', () => {
  it('has cache points after the tools, the system prompt and the last two turns of the user', async () => {
    const fake = await fakeOf(() => 'Yes.')
    const talk: Message[] = [{ role: 'system', content: 'Rules.' }]
    for (let i = 0; i < 4; i++) talk.push({ role: 'user', content: `Q${i}` }, { role: 'assistant', content: 'Yes.' })
    talk.push({ role: 'user', content: 'last' })
    await claudeAt(fake, { cache: '1h' }).complete(talk, { tools: TOOLS })
    const { tools, system, messages } = fake.requests[0]?.body ?? { messages: [] }
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    expect([tools, system, messages.at(-1)?.content, messages.at(-3)?.content]).toMatchObject(
      Array.from({ length: 4 }, () => [{ cache_control }]),
    )
    expect(JSON.stringify(messages).split('cache_control').length - 1).toBe(2)
    await claudeAt(fake, { cache: false }).complete(talk, { tools: TOOLS })
    expect(JSON.stringify(fake.requests[1]?.body)).not.toContain('cache_control')
  })

  it('carries images in results and says what it cannot show', async () => {
    const fake = await fakeOf(() => 'A cat.')
    const call: Message = { role: 'assistant', content: '', toolCalls: [{ id: 'p', name: 'photo', arguments: '' }] }
    const parts = [
      { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' },
      { type: 'image' as const, data: 'aGk=', mimeType: 'image/tiff' },
    ]
    await claudeAt(fake).complete([
      question,
      call,
      { role: 'tool', content: '', toolCallId: 'p', name: 'photo', parts },
    ])
    expect(fake.requests[0]?.body).toMatchObject({
      tools: [{ name: 'photo' }],
      tool_choice: { type: 'none' },
      messages: [
        {},
        {},
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'p',
              content: [{ type: 'image', source: { media_type: 'image/png', data: 'aGk=' } }, { type: 'text' }],
            },
          ],
        },
      ],
    })
  })

  it('carries a temperature in the last version of the API that takes one', async () => {
    const fake = await fakeOf(() => 'Yes.')
    await claudeAt(fake, { model: 'claude-haiku-4-5', temperature: 0 }).complete([question])
    expect(fake.requests[0]?.body.temperature).toBe(0)
  })

  it('carries effort, own fields and own headers, and the key of the call', async () => {
    const fake = await fakeOf(() => 'Yes.')
    const claude = claudeAt(fake, {
      effort: 'low',
      maxTokens: 100,
      extraBody: { service_tier: 'standard_only' },
      headers: { 'x-team': 'blue' },
    })
    await claude.complete([question], { idempotencyKey: 'once' })
    expect(fake.requests[0]).toMatchObject({
      headers: { 'x-team': 'blue', 'idempotency-key': 'once' },
      body: { max_tokens: 100, output_config: { effort: 'low' }, service_tier: 'standard_only' },
    })
  })

  it.each([
    ['claude-3-haiku-20240307', 4_096],
    ['claude-3-5-haiku-20241022', 8_192],
    ['claude-opus-4-1', 32_000],
    ['claude-haiku-4-5', 32_000],
    ['claude-opus-5-5', 32_000],
    ['some-model-of-a-proxy', 32_000],
  ])('to %s has max_tokens %i', async (model, tokens) => {
    const fake = await fakeOf(() => 'Yes.')
    await claudeAt(fake, { model }).complete([question])
    expect(fake.requests[0]?.body.max_tokens).toBe(tokens)
  })

  it('is refused before it is made when its options contradict each other', () => {
    const make = (options: Partial<ClaudeOptions>) => () => createClaude({ model: 'claude-x', ...options })
    expect(make({ model: '' })).toThrow(/needs its name/)
    expect(make({ temperature: 0, thinking: { type: 'adaptive' } })).toThrow(/temperature/)
    expect(make({ thinking: { type: 'enabled', budgetTokens: 1000 } })).toThrow(/1000/)
    expect(make({ maxTokens: 2000, thinking: { type: 'enabled', budgetTokens: 2000 } })).toThrow(/maxTokens/)
  })
})
