/**
 * Advice on studying abroad, as a tree of sessions: the general adviser forks into regions, and a region forks into
 * topics. Skills say how to fork. Profiles say what a fork may do: each level sees only the skills for opening its own
 * children.
 */
import {
  ForkProfileRegistryImpl,
  SkillRouterImpl,
  createStelloAgent,
  openai,
  type ModelLike,
  type StelloAgent,
} from '../../src/index.ts'

function regionSkill(region: string, code: string): { name: string; description: string; content: string } {
  return {
    name: `create-${code}-session`,
    description: `Open a child session for one topic of studying in ${region}: choice of school, essays, visa`,
    content: [
      `When the conversation narrows down to one topic of studying in ${region}, open a child session for it:`,
      `- choice of school: stello_create_session({ label: "${region}: schools, …", profile: "${code}-child" })`,
      `- essays: stello_create_session({ label: "${region}: essays, …", profile: "${code}-child" })`,
      'Put the name of the school or the topic into the label. The profile brings the system prompt; send none.',
    ].join('\n'),
  }
}

const skills: SkillRouterImpl = new SkillRouterImpl()
  .register(regionSkill('the USA', 'us'))
  .register(regionSkill('the UK', 'uk'))
  .register({
    name: 'general-research',
    description: 'How to research a question thoroughly',
    content:
      'Collect several independent sources, compare what they say, and report the result with its open questions.',
  })

const profiles: ForkProfileRegistryImpl = new ForkProfileRegistryImpl()
  .register('us-region', {
    systemPrompt: 'You are an expert in studying in the USA and answer for everything that concerns it.',
    systemPromptMode: 'preset',
    skills: ['create-us-session', 'general-research'],
  })
  .register('uk-region', {
    systemPrompt: 'You are an expert in studying in the UK and answer for everything that concerns it.',
    systemPromptMode: 'preset',
    skills: ['create-uk-session', 'general-research'],
  })
  .register('us-child', {
    systemPrompt: 'You help one student choose among universities in the USA. Stay with that question.',
    systemPromptMode: 'preset',
    skills: [],
  })
  .register('uk-child', {
    systemPrompt: 'You help one student choose among universities in the UK. Stay with that question.',
    systemPromptMode: 'preset',
    skills: [],
  })

/** The same agent on any model: tests pass a scripted one. */
export function studyAbroadAgent(llm: ModelLike): StelloAgent {
  return createStelloAgent({
    name: 'study-abroad',
    llm,
    systemPrompt:
      'You advise people who want to study abroad. Find out what matters to them, and open a session of its own for ' +
      'each country they consider: profile us-region for the USA, uk-region for the UK.',
    capabilities: { skills, profiles },
  })
}

export default studyAbroadAgent(openai({ model: 'gpt-5.4-mini' }))
