/** The agent that chats are tried with: one tool runs, one asks for permission, one ends when the test lets it. */
import { z } from 'zod'
import { createStelloAgent, openai, tool } from '../../src/index.ts'

const weather = tool(
  'weather',
  'The weather in a city',
  z.object({ city: z.string() }),
  async ({ city }) => Array.from({ length: 12 }, (_, hour) => `Rain in ${city} at ${hour}.`).join('\n'),
  { readOnlyHint: true },
)

const remove = tool('remove', 'Removes a file', z.object({ path: z.string() }), async ({ path }) => `removed ${path}`)

export default createStelloAgent({
  name: process.env['TEST_AGENT'] ?? 'chat-test',
  llm: openai({ model: 'fake' }),
  systemTools: true,
  permissions: {},
  capabilities: { tools: [weather, remove] },
})
