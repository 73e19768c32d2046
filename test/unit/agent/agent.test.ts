import { describe, expect, it } from 'vitest'
import { createStelloAgent, isStelloAgent } from '../../../src/agent/agent.ts'
import type { AgentDefinition, StelloAgent } from '../../../src/agent/agent.ts'
import { isStelloError } from '../../../src/agent/errors.ts'
import { ForkProfileRegistryImpl } from '../../../src/agent/profile.ts'
import { ToolRegistryImpl } from '../../../src/agent/registry.ts'
import { SkillRouterImpl } from '../../../src/agent/skill.ts'
import { llm, named, refusal } from './authoring.ts'

const create = (definition: Partial<AgentDefinition> = {}) => createStelloAgent({ name: 'test', llm, ...definition })

describe('createStelloAgent', () => {
  it('has the documented defaults', () => {
    expect(create()).toMatchObject({
      limits: { maxToolRounds: 5, toolTimeoutMs: 600_000, timeoutsBeforePause: 3 },
      modelTimeoutMs: 600_000,
      systemPrompt: '',
      systemTools: false,
      warnings: [],
    })
  })

  it('reads durations, and executionTimeout as another name for toolTimeout', () => {
    const agent = create({ toolTimeout: '30s', modelTimeout: '1 minute', maxToolRounds: 0, timeoutsBeforePause: 1 })
    expect(agent.limits).toEqual({ maxToolRounds: 0, toolTimeoutMs: 30_000, timeoutsBeforePause: 1 })
    expect(agent.modelTimeoutMs).toBe(60_000)
    expect(create({ executionTimeout: 5000 }).limits.toolTimeoutMs).toBe(5000)
  })

  it('takes tools from a registry, a list, or anything that lists them', () => {
    const registry = new ToolRegistryImpl().register(named('a'))
    for (const tools of [registry, [named('a')], { list: () => [named('a')] }]) {
      expect([...create({ capabilities: { tools } }).tools.keys()]).toEqual(['a'])
    }
  })

  it('does not see what is registered afterwards', () => {
    const tools = new ToolRegistryImpl()
    const agent = create({ capabilities: { tools } })
    tools.register(named('late'))
    expect(agent.tools.size).toBe(0)
    expect(Object.isFrozen(agent)).toBe(true)
  })

  it('lists every problem at once, with a hint', () => {
    const profiles = new ForkProfileRegistryImpl()
      .register('p', { maxToolRounds: 1.5 })
      .register('q', { llm: {} as never })
      .register('r', { tools: [named('x'), named('x')] })
    const definition = {
      name: 'two words',
      llm: undefined as never,
      maxToolRounds: -1,
      maxDepth: -1,
      modelTimeout: 'soon',
      systemPrompt: 1 as never,
      capabilities: { tools: [named('a'), named('a'), { ...named('b'), name: 'b!' }], profiles },
    }
    const message = refusal('INVALID_AGENT', () => createStelloAgent(definition))
    const problems = [
      'name: ',
      'llm: ',
      'systemPrompt: ',
      'maxToolRounds: -1',
      'maxDepth: -1 is not a whole number of at least 0',
      "modelTimeout: 'soon'",
      'tool "a" is there twice',
      'tool "b!": name',
      'profile "p": maxToolRounds: 1.5',
      'profile "q": llm',
      'profile "r": tool "x" is there twice',
    ]
    expect(message.split('\n')).toHaveLength(problems.length + 1)
    for (const problem of problems) expect(message).toContain(`- ${problem}`)
    expect(() => createStelloAgent(definition)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('createStelloAgent') }),
    )
  })

  it.each([[''], ['x'.repeat(201)], ['a b'], ['a\n']])('refuses %j as a name', (name) => {
    expect(refusal('INVALID_AGENT', () => create({ name }))).toContain('- name: ')
  })

  it('lets an error of user code through as it is', () => {
    const tools = {
      list: () => {
        throw new TypeError('mine')
      },
    }
    expect(() => create({ capabilities: { tools } })).toThrow(TypeError)
  })

  it('warns of skills a profile names that nobody registered', () => {
    const profiles = new ForkProfileRegistryImpl().register('p', { skills: ['there', 'gone'] })
    const skills = new SkillRouterImpl().register({ name: 'there', description: 'd', content: 'c' })
    expect(create({ capabilities: { skills, profiles } }).warnings).toEqual([
      'profile "p": skill "gone" is not registered',
    ])
  })
})

describe('the model of a session', () => {
  const other = { name: 'other', complete: llm.complete }
  const profiles = new ForkProfileRegistryImpl().register('other', { llm: other }).register('bare', {})
  const agent = create({ capabilities: { profiles } })

  it("is the profile's own", () => {
    expect(agent.model('profile:other')).toBe(other)
  })

  it("is the agent's when the profile has none or is gone", () => {
    for (const source of ['agent', 'profile:bare', 'profile:gone'] as const) expect(agent.model(source)).toBe(llm)
  })

  it('gets a name when it has none, and keeps its `this`', async () => {
    const nameless = {
      answer: 'hi',
      async complete() {
        return {
          content: this.answer,
          toolCalls: [],
          usage: { inputTokens: 0, outputTokens: 0 },
          finishReason: 'stop' as const,
        }
      },
    }
    const model = create({ llm: nameless }).model('agent')
    expect(model.name).toBe('model')
    expect((await model.complete([])).content).toBe('hi')
  })
})

it("the limits of a session are its profile's, the rest the agent's", () => {
  const profiles = new ForkProfileRegistryImpl().register('quick', { toolTimeout: '1s' })
  const agent = create({ maxToolRounds: 9, capabilities: { profiles } })
  expect(agent.limitsOf('quick', 'agent')).toEqual({ maxToolRounds: 9, toolTimeoutMs: 1000, timeoutsBeforePause: 3 })
  expect(agent.limitsOf(undefined, 'agent')).toEqual(agent.limits)
  expect(agent.limitsOf('gone', 'agent')).toEqual(agent.limits)
})

it("rounds that neither agent nor profile states are the session's model's own, else five", () => {
  const patient = { ...llm, maxToolRounds: 9 }
  const profiles = new ForkProfileRegistryImpl()
    .register('bare', {})
    .register('native', { llm })
    .register('stated', { maxToolRounds: 2 })
  const rounds = (definition: Partial<AgentDefinition>, ...session: Parameters<StelloAgent['limitsOf']>): number =>
    create({ capabilities: { profiles }, ...definition }).limitsOf(...session).maxToolRounds
  expect(create({ llm: patient }).limits.maxToolRounds).toBe(9)
  expect(rounds({ llm: patient }, 'bare', 'agent')).toBe(9)
  expect(rounds({ llm: patient }, 'native', 'profile:native')).toBe(5)
  expect(rounds({ llm: patient }, undefined, 'profile:native')).toBe(5)
  expect(rounds({ llm: patient }, 'stated', 'agent')).toBe(2)
  expect(rounds({ llm: patient, maxToolRounds: 3 }, 'bare', 'agent')).toBe(3)
  expect(rounds({ llm: { complete: llm.complete, maxToolRounds: 9 } }, undefined, 'agent')).toBe(9)
})

it('isStelloAgent tells an agent by its shape', () => {
  expect(isStelloAgent({ ...create() })).toBe(true)
  for (const other of [undefined, null, 'agent', {}, { name: 'x', llm }, llm]) expect(isStelloAgent(other)).toBe(false)
})

it('a StelloError of another copy of the package counts as one', () => {
  expect(isStelloError(Object.assign(new Error('x'), { name: 'StelloError', code: 'INVALID_TOOL' }))).toBe(true)
})
