/**
 * Child agents: child sessions whose ids stay valid. They run beside their parent, may be asked again, and survive a
 * crash.
 *
 * Try it: `stello dev examples/features/child-agents.ts`, then `stello start lead --message "Compare tea and coffee" --wait`
 * and `stello tree --last`.
 */
import { agents } from 'stello-temporal/capabilities'
import { createStelloAgent, type StelloAgent } from 'stello-temporal'
import type { ScriptRequest } from 'stello-temporal/testing'
import { modelOr } from './model-or.ts'

/** The ids that the calls of `spawn-agent` have returned. */
function spawned({ messages }: ScriptRequest): string[] {
  const results = messages.filter(({ name }) => name === 'spawn-agent')
  return results.flatMap(({ content }) => /"agentId":"([^"]+)"/.exec(content)?.[1] ?? [])
}

const agent: StelloAgent = createStelloAgent({
  name: 'lead',
  llm: modelOr(
    [
      'Compare',
      {
        toolCalls: ['tea', 'coffee'].map((drink) => ({
          name: 'spawn-agent',
          arguments: { displayName: drink, message: `Praise ${drink}` },
        })),
      },
    ],
    [/^Praise/, ({ messages }) => `${messages.at(-1)?.content.slice(7)} is good`],
    [
      { tool: 'spawn-agent' },
      (request) => ({ toolCalls: [{ name: 'wait-agent', arguments: { agentIds: spawned(request), match: 'all' } }] }),
    ],
    [{ tool: 'wait-agent' }, 'Both are good.'],
    [() => true, 'Thank you.'],
  ),
  capabilities: { packs: [agents()] },
})

export default agent
