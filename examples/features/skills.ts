/**
 * A skill: instructions that the model loads when it needs them, so they cost no tokens before.
 * `loadSkillsFromDirectory` reads skills from folders with a `SKILL.md`.
 *
 * Try it: `stello dev examples/features/skills.ts`, then `stello start reviewer --message "Review: x = 1" --wait`.
 */
import { SkillRouterImpl, createStelloAgent, type StelloAgent } from 'stello-temporal'
import { modelOr } from './model-or.ts'

const skills = new SkillRouterImpl().register({
  name: 'code-review',
  description: 'How to review code here',
  content: 'Look for names that say nothing. Name the line, and propose a better name.',
})

const agent: StelloAgent = createStelloAgent({
  name: 'reviewer',
  llm: modelOr(
    ['Review', { toolCalls: [{ name: 'activate_skill', arguments: { name: 'code-review' } }] }],
    [{ tool: 'activate_skill' }, 'Line 1: `x` says nothing; call it `width`.'],
  ),
  capabilities: { skills },
})

export default agent
