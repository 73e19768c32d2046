/** A session with Claude, over its real SDK and a server that refuses what Anthropic refuses. */
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createClaude } from '../../src/models/anthropic/claude.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { startFakeAnthropic, type FakeAnthropic, type Script } from '../../src/testing/index.ts'
import { ask, useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello()
const SCRIPT: Script = ({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { reasoning: 'Now I know.', content: `It is ${last.content}.` }
  if (last?.content.includes('weather') !== true) return { reasoning: 'Easy.', content: `${messages.length} messages` }
  return {
    reasoning: 'I must look.',
    content: 'I look.',
    toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }],
  }
}

/** The reasoning that a request sends back, in order. */
function thoughts(fake: FakeAnthropic, at: number): unknown[] {
  const blocks = fake.requests
    .at(at)
    ?.body.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  return blocks?.flatMap(({ type, thinking }) => (type === 'thinking' ? [thinking] : [])) ?? []
}

it.each(['claude-opus-5-5', 'claude-sonnet-4-6'])(
  'thinking of %s goes back over tool rounds, a restart of the worker and a fork, and is refused nowhere',
  async (model) => {
    const fake = await startFakeAnthropic({ script: SCRIPT })
    onTestFinished(() => fake.close())
    const agent = (): TestAgent => ({
      llm: createClaude({ model, baseURL: fake.url, thinking: { type: 'adaptive', display: 'summarized' } }),
      systemPrompt: 'You know the weather.',
      capabilities: {
        tools: [tool('weather', 'The weather', z.object({ city: z.string() }), () => 'rain', { readOnlyHint: true })],
      },
      retryFor: '1 second',
    })
    const first = await stello.work(agent())
    const session = await stello.client.createSession({ agent: first.taskQueue })
    expect(await ask(session, 'weather in Oslo?')).toBe('It is rain.')
    expect(thoughts(fake, -1)).toEqual(['I must look.'])
    await first.stop()

    await stello.work({ ...agent(), name: first.taskQueue })
    expect(await ask(session, 'and the weather now?')).toBe('It is rain.')
    expect(thoughts(fake, -1)).toEqual(['I must look.', 'Now I know.', 'I must look.'])
    expect(JSON.stringify(await session.transcript())).not.toMatch(/"content":"[^"]*I must/)

    const child = await session.fork({ label: 'child', context: 'inherit' })
    expect(await ask(child, 'thank you')).toMatch(/messages$/)
    expect(thoughts(fake, -1)).toHaveLength(4)
    const other = await session.fork({ label: 'other', context: 'inherit', systemPrompt: 'You are brief.' })
    expect(await ask(other, 'thank you')).toMatch(/messages$/)
    // A newer model refuses it after another prompt.
    expect(thoughts(fake, -1)).toHaveLength(model === 'claude-opus-5-5' ? 0 : 4)
  },
)
