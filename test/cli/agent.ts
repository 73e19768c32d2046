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

const doors = process.env['TEST_DOORS']
/** Ends when the test that has doors lets it. */
const knock = tool('knock', 'Knocks', z.object({}), async () => (await fetch(`${doors}/knock`)).text())

export default createStelloAgent({
  name: process.env['TEST_AGENT'] ?? 'cli-test',
  llm: openai({ model: 'fake' }),
  systemTools: process.env['TEST_SYSTEM_TOOLS'] !== undefined,
  capabilities: {
    tools: [weather, pay, ...(doors === undefined ? [] : [knock])],
    profiles: new ForkProfileRegistryImpl().register('short', {
      systemPrompt: 'Answer in one line.',
      systemPromptMode: 'preset',
    }),
  },
})
