/** The agent module that `stello init` writes. */
export const AGENT_TEMPLATE = `import { z } from 'zod'
import { createStelloAgent, openai, tool } from 'stello-temporal'

const now = tool(
  'current_time',
  'The time in a time zone',
  z.object({ timeZone: z.string().describe('IANA name, e.g. Europe/Berlin') }),
  async ({ timeZone }) => new Date().toLocaleString('en-GB', { timeZone }),
  { readOnlyHint: true, timeout: '5s' },
)

export default createStelloAgent({
  name: 'my-agent',
  llm: openai({ model: 'gpt-5.4-mini' }), // OPENAI_API_KEY, OPENAI_BASE_URL
  systemPrompt: 'You are a helpful assistant. Use your tools instead of guessing.',
  capabilities: { tools: [now] },
})
`
