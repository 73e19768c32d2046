/**
 * A tool: a name, a description, a schema, a function. Its effect says whether it may be repeated after a crash.
 *
 * Try it: `stello dev examples/features/tool.ts`, then `stello start weather --message "Weather in Oslo?" --wait`.
 */
import { z } from 'zod'
import { createStelloAgent, tool, type StelloAgent } from 'stello-temporal'
import { modelOr } from './model-or.ts'

const weather = tool(
  'get_weather',
  'The weather of a city, now',
  z.object({ city: z.string().describe('Its name in English') }),
  ({ city }) => `${city}: rain, 7 °C`,
  { readOnlyHint: true, timeout: '10s' },
)

const agent: StelloAgent = createStelloAgent({
  name: 'weather',
  systemPrompt: 'You answer in one sentence.',
  llm: modelOr(
    ['Oslo', { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] }],
    [{ tool: 'get_weather' }, 'It rains in Oslo.'],
  ),
  capabilities: { tools: [weather] },
})

export default agent
