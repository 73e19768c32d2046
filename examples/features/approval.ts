/**
 * An approval: rules say which calls run, which are refused, and which a person must permit.
 *
 * Try it: `stello dev examples/features/approval.ts`, then `stello start payments --message "Pay bill 17"`,
 * `stello inbox`, and `stello approve --last ITEM` with the id that the inbox shows.
 */
import { z } from 'zod'
import { createStelloAgent, tool, type StelloAgent } from 'stello-temporal'
import { modelOr } from './model-or.ts'

const pay = tool('pay', 'Pays a bill', z.object({ bill: z.number() }), ({ bill }) => `bill ${bill} is paid`, {
  idempotentHint: true,
})

const agent: StelloAgent = createStelloAgent({
  name: 'payments',
  llm: modelOr(
    ['Pay', { toolCalls: [{ name: 'pay', arguments: { bill: 17 } }] }],
    [{ tool: 'pay' }, ({ messages }) => `Done: ${messages.at(-1)?.content}.`],
  ),
  permissions: { mode: 'default', ask: ['pay'] },
  capabilities: { tools: [pay] },
})

export default agent
