/** The agent of the chat tests: its tools run, ask for permission, ask a person, or never end. */
import { z } from 'zod'
import { people } from '../../src/capabilities/index.ts'
import { createStelloAgent, openai, tool } from '../../src/index.ts'

const weather = tool(
  'weather',
  'The weather in a city',
  z.object({ city: z.string() }),
  async ({ city }) => Array.from({ length: 12 }, (_, hour) => `Rain in ${city} at ${hour}.`).join('\n'),
  { readOnlyHint: true },
)

const remove = tool('remove', 'Removes a file', z.object({ path: z.string() }), async ({ path }) => `removed ${path}`)

/** Nobody knows what it has done when its worker dies. */
const pay = tool('pay', 'Pays', z.object({ amount: z.number() }), () => new Promise<string>(() => undefined), {
  onUnknownOutcome: 'ask',
})

export default createStelloAgent({
  name: process.env['TEST_AGENT'] ?? 'chat-test',
  llm: openai({ model: 'fake' }),
  systemTools: true,
  permissions: { allow: ['pay'] },
  capabilities: { tools: [weather, remove, pay], packs: [people()] },
})
