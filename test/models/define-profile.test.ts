/** An agent in Agentrail's words. */
import { expect, it } from 'vitest'
import { isStelloAgent } from '../../src/agent/agent.ts'
import { sessionTools } from '../../src/agent/tool-list.ts'
import { defineProfile } from '../../src/models/define-profile.ts'
import { llm, named, refusal } from '../unit/agent/authoring.ts'

const ofAgent = named('search')

it('a profile is an agent: its model by name, its tools beside those of the packs', () => {
  const agent = defineProfile({
    id: 'default',
    name: 'Default Assistant',
    agent: { model: 'anthropic:claude-sonnet-5', prompt: 'You help.', tools: [ofAgent, named('ping')] },
    capabilities: [{ tools: [named('read'), { ...named('search'), description: 'of the pack' }] }, { tools: [] }],
    maxToolRounds: 3,
  })
  expect(isStelloAgent(agent)).toBe(true)
  expect(agent).toMatchObject({ name: 'default', systemPrompt: 'You help.', limits: { maxToolRounds: 3 } })
  expect(agent.llm.name).toBe('claude-sonnet-5')
  const { names } = sessionTools(agent, { tools: 'agent' })
  expect(names).toEqual(['stello_create_session', 'ping', 'read', 'search'])
  expect(agent.tools.get('search')?.description).toBe('does search')
})

it('a profile takes a model of its own', () => {
  expect(defineProfile({ id: 'own', agent: { model: llm } }).llm).toBe(llm)
})

it('what is wrong is said of the agent: an unknown provider, a tool that is none, a name two packs have', () => {
  expect(refusal('INVALID_AGENT', () => defineProfile({ id: 'x', agent: { model: 'acme:1' } }))).toContain(
    'agent "x" is not valid:\n- model: "acme:1" names no model',
  )
  const broken = { ...named('w'), execute: 1 } as never
  expect(refusal('INVALID_AGENT', () => defineProfile({ id: 'x', agent: { model: llm, tools: [broken] } }))).toContain(
    'tool "w": execute must be a function',
  )
  const twice = [{ tools: [named('read')] }, { tools: [named('read')] }]
  expect(
    refusal('INVALID_AGENT', () => defineProfile({ id: 'x', agent: { model: llm }, capabilities: twice })),
  ).toContain('tool "read" is there twice')
})
