/** The agent the commands are tried with; its model is the fake provider that OPENAI_BASE_URL names. */
import { z } from 'zod'
import { ForkProfileRegistryImpl, createStelloAgent, openai, tool } from '../../src/index.ts'

const weather = tool(
  'weather',
  'The weather in a city',
  z.object({ city: z.string() }),
  async ({ city }) => `Rain in ${city}.`,
  { readOnlyHint: true },
)

export default createStelloAgent({
  name: process.env['TEST_AGENT'] ?? 'cli-test',
  llm: openai({ model: 'fake' }),
  capabilities: {
    tools: [weather],
    profiles: new ForkProfileRegistryImpl().register('short', {
      systemPrompt: 'Answer in one line.',
      systemPromptMode: 'preset',
    }),
  },
})
