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

/** Ends with its worker only, so that its outcome is unknown. */
const pay = tool('pay', 'Pays', z.object({ amount: z.number() }), () => new Promise<string>(() => undefined), {
  onUnknownOutcome: 'ask',
})

export default createStelloAgent({
  name: process.env['TEST_AGENT'] ?? 'cli-test',
  llm: openai({ model: 'fake' }),
  capabilities: {
    tools: [weather, pay],
    profiles: new ForkProfileRegistryImpl().register('short', {
      systemPrompt: 'Answer in one line.',
      systemPromptMode: 'preset',
    }),
  },
})
