/** Which skills each level of the example may see. Another test runs the tree on a server. */
import { expect, it } from 'vitest'
import agent, { studyAbroadAgent } from '../../../examples/study-abroad/agent.ts'
import { isStelloAgent } from '../../../src/agent/agent.ts'
import { sessionTools, visibleSkills } from '../../../src/agent/tool-list.ts'
import type { SessionConfig } from '../../../src/protocol/config.ts'
import { forkConfig } from '../../../src/activities/child/fork.ts'
import { llm } from './authoring.ts'

const main: SessionConfig = { agent: 'study-abroad', label: 'main', model: 'agent', tools: 'agent' }

it('loads without a key and is an agent', () => {
  expect(isStelloAgent(agent)).toBe(true)
  expect(agent.warnings).toEqual([])
})

it('shows each level of main → us-region → us-child exactly its skills', () => {
  const scripted = studyAbroadAgent(llm)
  const fork = (parent: SessionConfig, profile: string): SessionConfig =>
    forkConfig(parent, { label: profile, profile }, scripted.profiles.get(profile))
  const region = fork(main, 'us-region')
  const child = fork(region, 'us-child')
  const seen = [main, region, child].map((config) => visibleSkills(scripted, config.skills).map(({ name }) => name))
  expect(seen).toEqual([
    ['create-us-session', 'create-uk-session', 'general-research'],
    ['create-us-session', 'general-research'],
    [],
  ])
  expect(sessionTools(scripted, child).names).toEqual(['stello_create_session'])
})
