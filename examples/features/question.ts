/**
 * A question to a person. The call may wait for days, without a worker. It goes on with the answer.
 *
 * Try it: `stello dev examples/features/question.ts`, then `stello start booking --message "Book a table"`, `stello
 * inbox`, and `stello answer --last ITEM answer "Friday"` with the id that the inbox shows.
 */
import { z } from 'zod'
import { createStelloAgent, tool, type StelloAgent } from 'stello-temporal'
import { modelOr } from './model-or.ts'

const book = tool(
  'book_table',
  'Books a table for the day that the guest names',
  z.object({}),
  async (_args, ctx) => {
    const { text } = await ctx.ask({ message: 'For which day?' })
    return `booked for ${text}`
  },
  { idempotentHint: true },
)

const agent: StelloAgent = createStelloAgent({
  name: 'booking',
  llm: modelOr(
    ['Book', { toolCalls: [{ name: 'book_table', arguments: {} }] }],
    [{ tool: 'book_table' }, ({ messages }) => `It is ${messages.at(-1)?.content}.`],
  ),
  capabilities: { tools: [book] },
})

export default agent
