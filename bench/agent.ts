/** The agent that every row measures. It answers at once, and each answer calls two tools that do nothing. */
import { z } from 'zod'
import { createStelloAgent, tool, type Completion, type Message, type Model, type StelloAgent } from '../src/index.ts'

/** One turn: two model calls, with two tool calls between them. `text` is what each answer and each result says. */
export function emptyAgent(name: string, text: string = 'ok', llm: Model = emptyModel(text)): StelloAgent {
  const nothing = z.object({})
  return createStelloAgent({
    name,
    llm,
    systemPrompt: 'You are measured.',
    capabilities: {
      tools: [
        tool('look', 'Looks and changes nothing', nothing, () => text, { readOnlyHint: true }),
        tool('act', 'Has an effect', nothing, () => text),
      ],
    },
  })
}

/** The tools that each turn calls. */
export const NAMES: readonly string[] = ['look', 'act']

export function emptyModel(text: string): Model {
  return {
    name: 'empty',
    complete: (messages) => Promise.resolve(messages.at(-1)?.role === 'user' ? callsOf(messages) : answer(text)),
  }
}

function callsOf(messages: readonly Message[]): Completion {
  const id = `call-${messages.length}`
  return { ...answer(''), toolCalls: NAMES.map((name) => ({ id: `${id}-${name}`, name, arguments: '{}' })) }
}

function answer(content: string): Completion {
  return { content, toolCalls: [], usage: { inputTokens: 1, outputTokens: 1 }, finishReason: 'stop' }
}
