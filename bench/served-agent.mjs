/**
 * The agent of the worker processes. It answers at once, with two exceptions: a message `wait N` is answered after N
 * milliseconds, so that a step can be caught in the middle, and `rounds N` is answered after N rounds of two calls.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { createStelloAgent, tool } from '../dist/index.js'

const answer = (content, calls = []) => ({
  content,
  toolCalls: calls.map((name, i) => ({ id: `call-${i}`, name, arguments: '{}' })),
  usage: { inputTokens: 1, outputTokens: 1 },
  finishReason: 'stop',
})

const nothing = z.object({})

export default createStelloAgent({
  name: process.env.BENCH_AGENT,
  maxToolRounds: 10_000,
  llm: {
    name: 'served',
    async complete(messages, { signal } = {}) {
      const asked = messages.findLastIndex(({ role }) => role === 'user')
      const [, word, n] = /^(wait|rounds) (\d+)/.exec(messages[asked]?.content ?? '') ?? []
      if (word === 'wait') await delay(Number(n), undefined, { signal })
      const rounds = (messages.length - 1 - asked) / 3
      return word === 'rounds' && rounds < Number(n) ? answer('', ['look', 'act']) : answer('ok')
    },
  },
  capabilities: {
    tools: [
      tool('look', 'Looks and changes nothing', nothing, () => 'ok', { readOnlyHint: true }),
      tool('act', 'Has an effect', nothing, () => 'ok'),
    ],
  },
})
