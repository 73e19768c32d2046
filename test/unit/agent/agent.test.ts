import { describe, expect, it } from 'vitest'
import { createStelloAgent, isStelloAgent, type AgentDefinition, type StelloAgent } from '../../../src/agent/agent.ts'
import { isStelloError } from '../../../src/core/errors.ts'
import { ForkProfileRegistryImpl } from '../../../src/agent/profile.ts'
import { ToolRegistryImpl } from '../../../src/tool/tool-registry.ts'
import { SkillRouterImpl } from '../../../src/agent/skill-router.ts'
import { jsonActions } from '../../../src/models/actions/json-actions.ts'
import { withToolsPrompt } from '../../../src/models/actions/with-tools-prompt.ts'
import { llm, named, refusal } from './authoring.ts'

const create = (definition: Partial<AgentDefinition> = {}) => createStelloAgent({ name: 'test', llm, ...definition })

describe('createStelloAgent', () => {
  it('has the documented defaults', () => {
    expect(create()).toMatchObject({
      limits: { maxToolRounds: 5, toolTimeoutMs: 600_000, timeoutsBeforePause: 3 },
      waits: {
        timeoutMs: 600_000,
        idleMs: 120_000,
        retryForMs: 86_400_000,
        model: { attempts: Infinity, backoffMs: 1000 },
        tools: { attempts: 3, backoffMs: 500 },
      },
      systemPrompt: '',
      systemTools: false,
      warnings: [],
    })
  })

  it('reads durations, and executionTimeout as another name for toolTimeout', () => {
    const agent = create({ toolTimeout: '30s', modelTimeout: '1 minute', maxToolRounds: 0, timeoutsBeforePause: 1 })
    expect(agent.limits).toEqual({ maxToolRounds: 0, toolTimeoutMs: 30_000, timeoutsBeforePause: 1 })
    expect(agent.waits.timeoutMs).toBe(60_000)
    expect(create({ executionTimeout: 5000 }).limits.toolTimeoutMs).toBe(5000)
  })

  it('waits as the model states, else as the profile states, else as the agent states', () => {
    const slow = { ...llm, timeoutMs: 7000, idleTimeoutMs: 8000, retryForMs: 9000 }
    const profiles = new ForkProfileRegistryImpl()
      .register('patient', { modelTimeout: '1 hour', retries: { tools: { backoff: '3s' }, model: { attempts: 4 } } })
      .register('slow', { llm: slow, modelTimeout: '1 hour' })
    const agent = create({
      capabilities: { profiles },
      idleTimeout: '30s',
      retryFor: '2 hours',
      retries: { tools: { attempts: 5 } },
    })
    const own = { timeoutMs: 600_000, idleMs: 30_000, retryForMs: 7_200_000 }
    const tools = { attempts: 5, backoffMs: 500 }
    expect(agent.waitsOf(undefined, 'agent')).toMatchObject({ ...own, tools })
    expect(agent.waitsOf('gone', 'profile:gone')).toMatchObject({ ...own, tools })
    expect(agent.waitsOf('patient', 'agent')).toMatchObject({
      ...own,
      timeoutMs: 3_600_000,
      model: { attempts: 4, backoffMs: 1000 },
      tools: { attempts: 5, backoffMs: 3000 },
    })
    expect(agent.waitsOf('slow', 'profile:slow')).toMatchObject({ timeoutMs: 7000, idleMs: 8000, retryForMs: 9000 })
    // A session below, under a profile of its own, keeps the model of its parent.
    expect(agent.waitsOf('patient', 'profile:slow')).toMatchObject({ timeoutMs: 7000, tools: { backoffMs: 3000 } })
  })

  it.each([
    [{ idleTimeout: 'soon' }, "idleTimeout: 'soon' is not a duration"],
    [{ retryFor: 0 }, 'retryFor: 0 is not a duration'],
    [{ retries: 3 as never }, 'retries: must be an object with model, tools or both'],
    [{ retries: { tool: {} } as never }, 'retries: must be an object with model, tools or both'],
    [{ retries: { tools: 3 as never } }, 'retries.tools: must be an object like'],
    [{ retries: { tools: { attempts: 0 } } }, 'retries.tools.attempts: 0 is not a whole number of at least 1'],
    [{ retries: { model: { backoff: 'x' } } }, "retries.model.backoff: 'x' is not a duration"],
    [
      { retries: { model: { times: 3 } as never } },
      'retries.model.times: is no setting; there are attempts and backoff',
    ],
    [{ llm: { ...llm, idleTimeoutMs: -1 } }, 'llm: idleTimeoutMs: -1 is not a duration'],
  ])('refuses %j, naming the field', (definition, problem) => {
    expect(refusal('INVALID_AGENT', () => create(definition))).toContain(problem)
  })

  it('takes tools from a registry, a list, or anything that lists them', () => {
    const registry = new ToolRegistryImpl().register(named('a'))
    for (const tools of [registry, [named('a')], { list: () => [named('a')] }]) {
      expect([...create({ capabilities: { tools } }).tools.keys()]).toEqual(['a'])
    }
  })

  it('is frozen, also against changes of its definition', () => {
    const definition = { name: 'test', llm, systemPrompt: 'before' }
    const agent = createStelloAgent(definition)
    definition.systemPrompt = 'after'
    expect([agent.systemPrompt, Object.isFrozen(agent)]).toEqual(['before', true])
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

  it('passes an error of user code on as it is', () => {
    const tools = {
      list: () => {
        throw new TypeError('mine')
      },
    }
    expect(() => create({ capabilities: { tools } })).toThrow(TypeError)
  })

  it('warns of skills that a profile names and nobody has registered', () => {
    const profiles = new ForkProfileRegistryImpl().register('p', { skills: ['there', 'gone'] })
    const skills = new SkillRouterImpl().register({ name: 'there', description: 'd', content: 'c' })
    expect(create({ capabilities: { skills, profiles } }).warnings).toEqual([
      'profile "p": skill "gone" is not registered',
    ])
  })
})

describe('what is registered after the agent was created', () => {
  const skill = { name: 'late', description: 'd', content: 'c' }
  const registries = () => ({
    tools: new ToolRegistryImpl(),
    skills: new SkillRouterImpl(),
    profiles: new ForkProfileRegistryImpl(),
  })
  const fill = ({ tools, skills, profiles }: ReturnType<typeof registries>): void => {
    tools.register(named('late'))
    skills.register(skill)
    profiles.register('late', { maxToolRounds: 1, skills: ['late', 'gone'] })
  }
  const shown = ({ tools, skills, profiles, warnings }: StelloAgent) => ({
    tools: [...tools.keys()],
    skills: [...skills.keys()],
    profiles: [...profiles.keys()],
    warnings,
  })

  it('counts until a worker starts', () => {
    const capabilities = registries()
    const agent = create({ capabilities })
    fill(capabilities)
    agent.registerTool(named('later'))
    const names = { tools: ['late', 'later'], skills: ['late'], profiles: ['late'] }
    const all = { ...names, warnings: ['profile "late": skill "gone" is not registered'] }
    expect(shown(agent)).toEqual(all)
    expect(agent.limitsOf('late', 'agent').maxToolRounds).toBe(1)
    expect(agent.tools.get('late')).toBe(agent.tools.get('late'))
    agent.seal()
    expect(shown(agent)).toEqual(all)
  })

  it('is refused then, by the registries and by the agent', () => {
    const { tools, skills, profiles } = registries()
    const agent = create({ capabilities: { tools, skills, profiles } })
    agent.seal()
    const by = 'comes too late: a worker of agent "test" has started'
    expect(refusal('INVALID_TOOL', () => tools.register(named('late')))).toBe(`a tool ${by}`)
    expect(refusal('INVALID_TOOL', () => agent.registerTool(named('late')))).toBe(`a tool ${by}`)
    expect(refusal('INVALID_ARGUMENT', () => skills.register(skill))).toBe(`skill "late" ${by}`)
    expect(refusal('INVALID_ARGUMENT', () => profiles.register('late', {}))).toBe(`profile "late" ${by}`)
    expect(shown(agent)).toEqual({ tools: [], skills: [], profiles: [], warnings: [] })
  })

  it('does not reach the agent from a registry of another kind', () => {
    const list = [named('early')]
    const agent = create({ capabilities: { tools: { list: () => list } } })
    agent.seal()
    list.push(named('late'))
    expect([...agent.tools.keys()]).toEqual(['early'])
  })

  it('is checked like earlier registrations: the worker does not start', () => {
    const list = [named('a')]
    const agent = create({ capabilities: { tools: list } })
    list.push(named('a'))
    expect(refusal('INVALID_AGENT', () => agent.seal())).toContain('- tool "a" is there twice')
    expect(refusal('INVALID_AGENT', () => agent.tools)).toContain('- tool "a" is there twice')
  })

  it('has a name that is free', () => {
    const agent = create({ capabilities: { tools: [named('a')] } })
    expect(refusal('INVALID_TOOL', () => agent.registerTool(named('a')))).toContain('tool "a" is there twice')
    agent.registerTool(named('activate_skill'))
    expect(agent.warnings).toEqual([expect.stringContaining('tool "activate_skill" is left out')])
    expect([...agent.tools.keys()]).toEqual(['a'])
  })
})

describe('a model whose fields cannot be read', () => {
  const broken = (field: string): never =>
    Object.defineProperty({ ...llm }, field, {
      get: () => {
        throw new Error('gotcha')
      },
    }) as never

  it.each(['name', 'complete', 'maxToolRounds'])('is refused where it comes in: %s', (field) => {
    expect(refusal('INVALID_AGENT', () => create({ llm: broken(field) }))).toContain(
      '- llm: its name, provider, contextWindow, maxToolRounds, timeoutMs, idleTimeoutMs, retryForMs, fallback,',
    )
    const profiles = new ForkProfileRegistryImpl().register('p', { llm: broken(field) })
    expect(refusal('INVALID_AGENT', () => create({ capabilities: { profiles } }))).toContain('- profile "p": llm: its')
    for (const wrap of [jsonActions, withToolsPrompt]) {
      expect(refusal('INVALID_AGENT', () => wrap(broken(field)))).toMatch(
        /: its name, provider, contextWindow, maxToolRounds, .* or complete cannot/,
      )
    }
  })

  it('is asked for its name once, if the name is computed', async () => {
    let asked = 0
    class Computed {
      readonly #answer = 'hi'
      get name() {
        if (++asked > 1) throw new Error('gotcha')
        return 'computed'
      }
      async complete() {
        const usage = { inputTokens: 0, outputTokens: 0 }
        return { content: this.#answer, toolCalls: [], usage, finishReason: 'stop' as const }
      }
    }
    const model = create({ llm: new Computed() }).model('agent')
    expect([model.name, model.name, (await model.complete([])).content]).toEqual(['computed', 'computed', 'hi'])
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

it("the number of rounds is that of the agent or the profile, else that of the session's model, else five", () => {
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
