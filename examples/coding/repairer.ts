/**
 * The offline model that repairs the project beside it. It is rule-based and does not pretend otherwise: it looks where
 * the tests fail, and replaces two lines that it knows to be wrong. It reads only the conversation, so it goes on after
 * any crash.
 */
import type { Completion, Message, Model } from '../../src/index.ts'

interface Step {
  tool: string
  arguments: Record<string, unknown>
}

const TEST: Step = { tool: 'Bash', arguments: { command: 'node --test', description: 'Run the tests' } }

/** What it does in the first turn, one call per round. */
export const STEPS: readonly Step[] = [
  { tool: 'Glob', arguments: { pattern: '**/*.js' } },
  TEST,
  { tool: 'Grep', arguments: { pattern: 'median', output_mode: 'content' } },
  { tool: 'Read', arguments: { file_path: 'src/median.js' } },
  {
    tool: 'Edit',
    arguments: {
      file_path: 'src/median.js',
      old_string: '[...numbers].sort()',
      new_string: '[...numbers].sort((a, b) => a - b)',
    },
  },
  {
    tool: 'Edit',
    arguments: {
      file_path: 'src/median.js',
      old_string: 'sorted[middle - 1] + sorted[middle] / 2',
      new_string: '(sorted[middle - 1] + sorted[middle]) / 2',
    },
  },
  TEST,
]

export function repairer(): Model {
  return {
    name: 'offline-repairer',
    async complete(messages) {
      const done = messages.filter(({ role }) => role === 'tool').length
      const step = STEPS[done]
      const { content, calls } = step ? { content: '', calls: [step] } : { content: summary(messages), calls: [] }
      return {
        content,
        toolCalls: calls.map(({ tool, arguments: given }) => ({
          id: `call_${done}`,
          name: tool,
          arguments: JSON.stringify(given),
        })),
        usage: { inputTokens: tokens(messages.map((message) => message.content).join('')), outputTokens: 20 },
        finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
      } satisfies Completion
    },
  }
}

function summary(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'tool')?.content ?? ''
  const passed = /pass (\d+)/.exec(last)?.[1]
  const failed = /fail (\d+)/.exec(last)?.[1]
  return failed === '0'
    ? `median() sorted its numbers as texts, and divided only one of two by 2. Both are mended: ${passed} tests pass.`
    : `The tests still fail:\n${last.slice(-500)}`
}

/** A rough count, so that the summary has something to add up. */
function tokens(text: string): number {
  return Math.ceil(text.length / 4)
}
