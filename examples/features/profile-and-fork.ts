/**
 * A fork with a profile: a child session that knows the conversation so far and has a prompt of its own. The model
 * opens it by `new_task` and waits for its answer. A client opens one by `session.fork({ label, profile })`.
 *
 * Try it: `stello dev examples/features/profile-and-fork.ts`, then
 * `stello start writer --message "Check this: 2 + 2 = 5" --wait` and `stello tree --last`.
 */
import { ForkProfileRegistryImpl, createStelloAgent, type StelloAgent } from 'stello-temporal'
import { modelOr } from './model-or.ts'

const profiles = new ForkProfileRegistryImpl().register('critic', {
  systemPrompt: 'You look for mistakes, and name the worst in one sentence.',
  systemPromptMode: 'preset',
  context: 'inherit',
})

const agent: StelloAgent = createStelloAgent({
  name: 'writer',
  systemPrompt: 'Hand what you shall check to a critic.',
  systemTools: true,
  llm: modelOr(
    [
      /^Check/,
      { toolCalls: [{ name: 'new_task', arguments: { label: 'critic', profile: 'critic', message: 'Look.' } }] },
    ],
    ['Look.', '2 + 2 is 4.'],
    [{ tool: 'new_task' }, 'The critic says: 2 + 2 is 4.'],
  ),
  capabilities: { profiles },
})

export default agent
