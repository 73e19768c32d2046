/**
 * The agent of the worker processes: answers at once, but a message that says `wait N` after N milliseconds, and so that
 * a step can be caught in the middle.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createStelloAgent } from '../dist/index.js'

const answer = (content) => ({
  content,
  toolCalls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
  finishReason: 'stop',
})

export default createStelloAgent({
  name: process.env.BENCH_AGENT,
  llm: {
    name: 'served',
    async complete(messages, { signal } = {}) {
      const wait = /^wait (\d+)/.exec(messages.at(-1)?.content ?? '')
      if (wait) await delay(Number(wait[1]), undefined, { signal })
      return answer('ok')
    },
  },
})
