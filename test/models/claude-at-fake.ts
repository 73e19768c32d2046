/** A fake Anthropic for a test, and Claude at it. */
import { onTestFinished } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import type { Completion, Model, ToolSpec } from '../../src/core/model.ts'
import { createClaude } from '../../src/models/anthropic/claude.ts'
import type { ClaudeOptions } from '../../src/models/anthropic/claude-options.ts'
import { startFakeAnthropic, type FakeAnthropic, type Script } from '../../src/testing/index.ts'

export const question: Message = { role: 'user', content: 'Weather in Oslo?' }
export const result: Message = { role: 'tool', content: 'rain', toolCallId: 'w1', name: 'weather' }
export const TOOLS: ToolSpec[] = [
  {
    name: 'weather',
    description: 'The weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
]

/** Thinks, asks for a tool, thinks again, answers. */
export const ROUND: Script = ({ messages }) =>
  messages.at(-1)?.role === 'tool'
    ? { reasoning: 'It rains there.', content: 'Rain.' }
    : {
        reasoning: 'I must look.',
        content: 'I look.',
        toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' }, id: 'w1' }],
      }

export async function fakeOf(script: Script, options: { redactThinking?: boolean } = {}): Promise<FakeAnthropic> {
  const fake = await startFakeAnthropic({ script, apiKey: 'claude-key', ...options })
  onTestFinished(() => fake.close())
  return fake
}

export function claudeAt(fake: FakeAnthropic, options: Partial<ClaudeOptions> = {}): Model {
  return createClaude({ model: 'claude-sonnet-5', apiKey: 'claude-key', baseURL: fake.url, ...options })
}

export function recordOf({ content, toolCalls, provider }: Completion): Message {
  return { role: 'assistant', content, toolCalls, ...(provider && { provider }) }
}
