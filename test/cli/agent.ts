/** The agent that the tests of the commands use. Its model is the fake provider at OPENAI_BASE_URL. */
import { z } from 'zod'
import { ForkProfileRegistryImpl, createStelloAgent, openai, tool } from '../../src/index.ts'

const weather = tool(
  'weather',
  'The weather in a city',
  z.object({ city: z.string() }),
  async ({ city }) => `Rain in ${city}.`,
  { readOnlyHint: true },
)

/** It ends only with its worker, so its outcome is unknown. */
const pay = tool('pay', 'Pays', z.object({ amount: z.number() }), () => new Promise<string>(() => undefined), {
  onUnknownOutcome: 'ask',
})

const doors = process.env['TEST_DOORS']
/** It ends when the test opens its door. */
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
