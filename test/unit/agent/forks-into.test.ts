/** A child is never allowed more than its parent: which profiles a session may fork into. */
import { describe, expect, it } from 'vitest'
import { createStelloAgent, type StelloAgent } from '../../../src/agent/agent.ts'
import type { ForkProfile } from '../../../src/agent/profile.ts'
import { SkillRouterImpl } from '../../../src/agent/skill-router.ts'
import { ToolRegistryImpl } from '../../../src/tool/tool-registry.ts'
import { sessionTools, type ToolScope } from '../../../src/agent/tool-list.ts'
import type { SessionConfig } from '../../../src/protocol/config.ts'
import { forkConfig } from '../../../src/activities/child/fork.ts'
import { profiles } from '../../support/forks.ts'
import { llm, named, refusal } from './authoring.ts'

const [look, note, drop] = ['look', 'note', 'drop'].map(named) as [
  ReturnType<typeof named>,
  ReturnType<typeof named>,
  ReturnType<typeof named>,
]

const NAMED = {
  reader: { tools: [look], skills: ['cite'] },
  writer: { tools: [look, note], skills: ['cite', 'style'] },
  admin: { tools: [look, note, drop] },
  plain: { skills: 'inherit' },
} satisfies Record<string, ForkProfile>

function agentWith(named: Record<string, ForkProfile>, more: object = {}): StelloAgent {
  const skills = new SkillRouterImpl()
  for (const name of ['cite', 'style']) skills.register({ name, description: name, content: name })
  const capabilities = { tools: [look, note, drop], skills, profiles: profiles(named) }
  return createStelloAgent({ name: 'a', llm, systemTools: true, capabilities, ...more })
}

const mayFork = (agent: StelloAgent, scope: ToolScope): string[] => sessionTools(agent, scope).profiles
const under = (name: string): ToolScope => ({ profile: name, tools: `profile:${name}` })

describe('a session may fork into', () => {
  it('all profiles, if it is the agent itself', () => {
    expect(mayFork(agentWith(NAMED), { tools: 'agent' })).toEqual(['reader', 'writer', 'admin', 'plain'])
  })

  it('those that bring no tool that it lacks, if it is under a profile', () => {
    const agent = agentWith(NAMED)
    expect(mayFork(agent, { ...under('reader'), skills: ['cite'] })).toEqual(['reader', 'plain'])
    expect(mayFork(agent, { ...under('writer'), skills: ['cite', 'style'] })).toEqual(['reader', 'writer', 'plain'])
    expect(mayFork(agent, under('admin'))).toEqual(['reader', 'writer', 'admin', 'plain'])
  })

  it('none that brings a skill it may not activate', () => {
    expect(mayFork(agentWith(NAMED), { ...under('admin'), skills: ['style'] })).toEqual(['plain'])
    expect(mayFork(agentWith(NAMED), { ...under('admin'), skills: [] })).toEqual(['plain'])
  })

  it('one that leaves its skills unset only if it may activate all skills', () => {
    const agent = agentWith({ reader: NAMED.reader, all: { tools: [look] } })
    expect(mayFork(agent, { ...under('reader'), skills: ['cite'] })).toEqual(['reader'])
    expect(mayFork(agent, { ...under('reader'), skills: ['cite', 'style'] })).toEqual(['reader', 'all'])
    expect(mayFork(agent, under('all'))).toEqual(['reader', 'all'])
  })

  it('what its profile says, whatever these profiles have', () => {
    const agent = agentWith({
      ...NAMED,
      reader: { tools: [look], forksInto: ['admin'] },
      admin: { ...NAMED.admin, forksInto: [] },
    })
    expect(mayFork(agent, under('reader'))).toEqual(['admin'])
    expect(mayFork(agent, under('admin'))).toEqual([])
  })

  it('the same, if it was forked without a profile from a session under it', () => {
    const agent = agentWith(NAMED)
    const root: SessionConfig = { agent: 'a', label: 'root', model: 'agent', tools: 'agent' }
    const reader = forkConfig(root, { label: 'r', profile: 'reader' }, agent.profiles.get('reader'))
    const child = forkConfig(forkConfig(reader, { label: 'c' }, undefined), { label: 'g' }, undefined)
    expect(mayFork(agent, child)).toEqual(['reader', 'plain'])
    const plain = forkConfig(reader, { label: 'p', profile: 'plain' }, agent.profiles.get('plain'))
    expect(mayFork(agent, plain)).toEqual(['reader', 'plain'])
  })

  it('none, when its profile is gone', () => {
    expect(mayFork(agentWith({ admin: NAMED.admin }), { profile: 'gone', tools: 'agent' })).toEqual([])
  })

  it('one with more tools, if the filters of the session or the agent remove them', () => {
    expect(mayFork(agentWith(NAMED), { ...under('writer'), disallowedTools: ['drop'] })).toContain('admin')
    expect(mayFork(agentWith(NAMED, { disallowedTools: ['drop'] }), under('writer'))).toContain('admin')
    expect(mayFork(agentWith(NAMED), { ...under('writer'), allowedTools: ['look'] })).toContain('admin')
    expect(mayFork(agentWith(NAMED), { ...under('reader'), disallowedTools: ['drop'] })).not.toContain('admin')
  })

  it('none with another tool under the name of one of its own', () => {
    const stronger = { ...named('look'), execute: () => 'drops' }
    const agent = agentWith({ reader: { tools: [look] }, other: { tools: [stronger] } })
    expect(mayFork(agent, under('reader'))).toEqual(['reader'])
  })

  it('one with its own tool, however often that was converted', () => {
    const registry = new ToolRegistryImpl().register(look)
    const agent = createStelloAgent({
      name: 'a',
      llm,
      capabilities: { tools: registry, profiles: profiles({ whole: {}, reader: { tools: [look] } }) },
    })
    expect(mayFork(agent, { profile: 'whole', tools: 'agent' })).toEqual(['whole', 'reader'])
  })
})

describe('the tools that fork', () => {
  it.each(['stello_create_session', 'new_task'])('offer the profiles the session may fork into: %s', (name) => {
    const agent = agentWith({ ...NAMED, admin: { ...NAMED.admin, forksInto: [] } })
    const properties = (scope: ToolScope): unknown =>
      sessionTools(agent, scope).specs.find((spec) => spec.name === name)?.parameters['properties']
    expect(properties({ ...under('reader'), skills: ['cite'] })).toMatchObject({
      profile: { enum: ['reader', 'plain'] },
    })
    expect(Object.keys(properties(under('admin')) as object)).not.toContain('profile')
    expect(Object.keys(properties(under('admin')) as object)).not.toContain('vars')
  })
})

describe('a profile', () => {
  it('that names an unknown profile causes a warning', () => {
    expect(agentWith({ reader: { forksInto: ['reader', 'wirter'] } }).warnings).toEqual([
      'profile "reader": forksInto names "wirter", which is not registered',
    ])
  })

  it.each([
    [{ forksInto: 'admin' }, 'forksInto: must be a list of names of profiles'],
    [{ forksInto: [7] }, 'forksInto: must be a list of names of profiles'],
    [{ lockPrompt: 'yes' }, 'lockPrompt: must be true or false'],
    [{ permissionMode: 'god' }, 'permissionMode: must be one of plan, dontAsk, default'],
  ])('with %j is refused, by its registry and by an agent whose registry is of another kind', (profile, says) => {
    expect(refusal('INVALID_ARGUMENT', () => profiles({ p: profile as ForkProfile }))).toContain(says)
    const registry = { names: () => ['p'], get: () => profile as ForkProfile }
    const agent = (): unknown => createStelloAgent({ name: 'a', llm, capabilities: { profiles: registry } })
    expect(refusal('INVALID_AGENT', agent)).toContain(`profile "p": ${says}`)
  })

  it('with an unknown mode in a row leaves the mode of its parent, because unknown counts as the narrowest', () => {
    const parent = { agent: 'a', label: 'l', model: 'agent', tools: 'agent', permissionMode: 'god' } as const
    const child = forkConfig(parent, { label: 'c', profile: 'p' }, { permissionMode: 'yolo' })
    expect(child.permissionMode).toBe('god')
  })
})
