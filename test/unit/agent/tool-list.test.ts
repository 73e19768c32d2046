import { describe, expect, it } from 'vitest'
import { createStelloAgent, type AgentDefinition } from '../../../src/agent/agent.ts'
import { ForkProfileRegistryImpl } from '../../../src/agent/profile.ts'
import { ToolRegistryImpl } from '../../../src/tool/tool-registry.ts'
import { SkillRouterImpl } from '../../../src/agent/skill-router.ts'
import {
  buildSessionToolList,
  sessionTools,
  toolNotFound,
  type SessionTools,
  type ToolScope,
} from '../../../src/agent/tool-list.ts'
import { llm, named } from './authoring.ts'

const skills = new SkillRouterImpl()
  .register({ name: 'review', description: 'Reviews code', content: 'Check it.' })
  .register({ name: 'research', description: 'Finds sources', content: 'Look it up.' })
const profiles = new ForkProfileRegistryImpl()
  .register('own', { tools: [named('only')], skills: ['review'] })
  .register('bare', {})
  .register('none', { tools: [] })

function toolsOf(definition: Partial<AgentDefinition>, scope: Partial<ToolScope> = {}): SessionTools {
  const agent = createStelloAgent({ name: 'test', llm, ...definition })
  return sessionTools(agent, { tools: 'agent', ...scope })
}

function parameters(
  tools: SessionTools,
  name: string,
): { properties: Record<string, { enum?: string[] }>; required: string[] } {
  return tools.specs.find((spec) => spec.name === name)?.parameters as never
}

function check(tools: SessionTools, name: string, args: unknown): unknown {
  const found = tools.find(name)
  const checked = found && ('builtin' in found ? found.builtin : found.tool).check(args)
  return checked?.ok ? checked.value : checked?.problem
}

describe('the list a model sees', () => {
  it('has built-in tools first, then user tools, each A to Z', () => {
    const capabilities = { tools: [named('zip'), named('a_first'), named('m')], skills }
    expect(toolsOf({ systemTools: true, capabilities }).names).toEqual([
      'activate_skill',
      'attempt_completion',
      'new_task',
      'stello_create_session',
      'a_first',
      'm',
      'zip',
    ])
  })

  it('always offers stello_create_session, and system tools only when switched on', () => {
    expect(toolsOf({}).names).toEqual(['stello_create_session'])
  })

  it('is what buildSessionToolList gives for the same registries', () => {
    const tools = new ToolRegistryImpl().register(named('b')).register(named('a'))
    const specs = buildSessionToolList(tools, skills, profiles)
    expect(specs).toEqual(toolsOf({ capabilities: { tools, skills, profiles } }).specs)
    expect([...new Set(specs.flatMap(Object.keys))]).toEqual(['name', 'description', 'parameters', 'readOnly'])
    expect(buildSessionToolList([named('a')]).map((spec) => spec.name)).toEqual(['stello_create_session', 'a'])
  })
})

it('says of each tool whether a call changes something', () => {
  const look = { ...named('look'), kind: 'readonly' as const }
  const { specs } = toolsOf({ systemTools: true, capabilities: { tools: [named('do'), look], skills } })
  expect(specs.filter(({ readOnly }) => readOnly).map(({ name }) => name)).toEqual(['activate_skill', 'look'])
})

describe('stello_create_session', () => {
  it('has profile and vars only when profiles are registered', () => {
    const without = parameters(toolsOf({}), 'stello_create_session')
    expect(Object.keys(without.properties).sort()).toEqual(['context', 'label', 'prompt', 'systemPrompt'])
    expect(without.required).toEqual(['label'])
    const properties = parameters(toolsOf({ capabilities: { profiles } }), 'stello_create_session').properties
    expect(properties['profile']?.enum).toEqual(['own', 'bare', 'none'])
    expect(properties).toHaveProperty('vars')
  })

  it('checks its arguments, and names the profiles there are when one is unknown', () => {
    const tools = toolsOf({ capabilities: { profiles } })
    const good = { label: 'x', profile: 'own', vars: { a: 'b' }, context: 'inherit' }
    expect(check(tools, 'stello_create_session', good)).toEqual(good)
    expect(check(tools, 'stello_create_session', { label: 'x', profile: 'gone' })).toContain(
      '["own","bare","none"]; got "gone"',
    )
    expect(check(tools, 'stello_create_session', { label: 'x', vars: { a: 1 } })).toContain('- vars.a: must be string')
    expect(check(tools, 'stello_create_session', { label: 'x', context: 'contextFn' })).toContain('["none","inherit"]')
    expect(check(tools, 'stello_create_session', {})).toContain('- label: is required')
  })
})

describe('activate_skill', () => {
  it('lists the skills by name and description and takes no other', () => {
    const tools = toolsOf({ capabilities: { skills } })
    expect(tools.specs[0]?.description).toContain('- review: Reviews code\n- research: Finds sources')
    expect(check(tools, 'activate_skill', { name: 'review' })).toEqual({ name: 'review' })
    expect(check(tools, 'activate_skill', { name: 'other' })).toContain('["review","research"]')
  })

  it('sees only the white-listed skills', () => {
    const tools = toolsOf({ capabilities: { skills } }, { skills: ['research'] })
    expect(check(tools, 'activate_skill', { name: 'review' })).toContain('["research"]')
  })

  it('is missing with an empty white-list, which leaves stello_create_session', () => {
    expect(toolsOf({ capabilities: { skills } }, { skills: [] }).names).toEqual(['stello_create_session'])
  })
})

describe('precedence', () => {
  it("filters a user tool named like one of Stello's, with a warning", () => {
    const mine = [named('stello_create_session'), named('activate_skill'), named('other')]
    const agent = createStelloAgent({ name: 'test', llm, capabilities: { tools: mine } })
    expect(agent.warnings).toHaveLength(2)
    expect(agent.warnings[0]).toContain('tool "stello_create_session" is left out')
    const tools = sessionTools(agent, { tools: 'agent' })
    expect(tools.names).toEqual(['stello_create_session', 'other'])
    expect(tools.find('stello_create_session')).toHaveProperty('builtin')
    expect(tools.find('activate_skill')).toBeUndefined()
  })

  it('lets a user tool replace a system tool, in the list and in execution', () => {
    const tools = toolsOf({ systemTools: true, capabilities: { tools: [named('new_task'), named('a')] } })
    expect(tools.names).toEqual(['attempt_completion', 'stello_create_session', 'a', 'new_task'])
    expect(tools.find('new_task')).toHaveProperty('tool.description', 'does new_task')
  })
})

describe('filters', () => {
  const capabilities = { tools: [named('a'), named('b'), named('c')], skills }

  it("allowedTools keeps Stello's own tools", () => {
    expect(toolsOf({ systemTools: true, capabilities }, { allowedTools: ['b'] }).names).toEqual([
      'activate_skill',
      'stello_create_session',
      'b',
    ])
  })

  it("disallowedTools wins and may name Stello's own tools", () => {
    const scope = { allowedTools: ['a', 'b'], disallowedTools: ['b', 'stello_create_session', 'activate_skill'] }
    expect(toolsOf({ capabilities }, scope).names).toEqual(['a'])
  })

  it('of agent and session both apply', () => {
    expect(
      toolsOf({ capabilities, allowedTools: ['a', 'b'], disallowedTools: ['a'] }, { allowedTools: ['b', 'c'] }).names,
    ).toEqual(['activate_skill', 'stello_create_session', 'b'])
  })

  it('also hold when a tool is called by name', () => {
    expect(toolsOf({ capabilities }, { disallowedTools: ['a'] }).find('a')).toBeUndefined()
  })
})

describe('the source of user tools', () => {
  const names = (tools: ToolScope['tools']): string[] =>
    toolsOf({ capabilities: { tools: [named('a')], profiles } }, { tools }).names.slice(1)

  it("is exactly the profile's list when it has one, also an empty one", () => {
    expect(names('profile:own')).toEqual(['only'])
    expect(names('profile:none')).toEqual([])
  })

  it('is the agent when the profile says nothing of tools', () => {
    expect(names('profile:bare')).toEqual(['a'])
  })

  it('is empty if the profile is gone, because it may have allowed less than the agent', () => {
    expect(names('profile:gone')).toEqual([])
  })
})

it('an unknown tool is answered with what is available', () => {
  const error = toolNotFound('x', toolsOf({ capabilities: { tools: [named('a')] } }))
  expect(error).toMatchObject({
    code: 'TOOL_NOT_FOUND',
    message: 'unknown tool "x". Available: stello_create_session, a',
  })
})

it('the system tools check their arguments', () => {
  const tools = toolsOf({ systemTools: true })
  expect(check(tools, 'attempt_completion', {})).toContain('- result: is required')
  expect(check(tools, 'new_task', { label: 'x' })).toContain('- message: is required')
  expect(['attempt_completion', 'new_task', 'stello_create_session'].map((name) => tools.find(name))).toMatchObject([
    { builtin: { route: 'tool' } },
    { builtin: { route: 'task' } },
    { builtin: { route: 'fork' } },
  ])
})
