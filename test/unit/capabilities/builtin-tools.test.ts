/** The standard tools together: their names, kinds and effects. */
import { describe, expect, it } from 'vitest'
import {
  FileSystemMemoryStore,
  MemoryManager,
  getBuiltinTools,
  planning,
  tasks,
} from '../../../src/capabilities/index.ts'
import { SubagentRegistry, createStelloAgent, defineProfile } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { callToolOf } from './call-tool-of.ts'
import { testContext } from './test-context.ts'

const TOOLS = `
AskUserQuestion readonly
Bash execute
DiscoverTools readonly
Edit write
EnterPlanMode readonly
ExitPlanMode readonly
Glob readonly
Grep readonly
KillShell execute
NotebookEdit write
Read readonly
Skill execute
Task execute
TaskCreate execute
TaskGet readonly
TaskList readonly
TaskOutput readonly
TaskStop execute
TaskUpdate execute
TodoWrite readonly
WebFetch readonly
WebSearch readonly
Write write`
  .trim()
  .split('\n')

const ONCE = ['Bash', 'Edit', 'NotebookEdit']
/** Several of them run at the same time. */
const UNORDERED = ['Task']

describe('the standard tools', () => {
  it('are 23, each of its kind, from A to Z', async () => {
    const tools = await getBuiltinTools()
    expect(tools.map(({ name, kind }) => `${name} ${kind}`)).toEqual(TOOLS)
    expect(tools).toHaveLength(23)
  })

  it('may be repeated, except those that change files or run commands', async () => {
    const once = (await getBuiltinTools()).filter(({ effect }) => effect === 'non_idempotent')
    expect(once.map(({ name }) => name)).toEqual(ONCE)
  })

  it('run one after another if they change something', async () => {
    const changing = (await getBuiltinTools()).filter(({ kind }) => kind !== 'readonly')
    expect(changing.filter(({ ordered }) => !ordered).map(({ name }) => name)).toEqual(UNORDERED)
  })

  it('have schemas that providers take', async () => {
    for (const { name, parameters, description } of await getBuiltinTools()) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect(parameters).toMatchObject({ type: 'object' })
      for (const key of ['anyOf', 'oneOf', 'allOf']) expect(parameters).not.toHaveProperty(key)
      expect(description.length).toBeGreaterThan(10)
    }
  })

  it('have memory if there is a manager', async () => {
    const memoryManager = new MemoryManager(new FileSystemMemoryStore('/srv/memories'))
    const names = (await getBuiltinTools({ memoryManager })).map(({ name }) => name)
    expect(names).toHaveLength(25)
    expect(names).toEqual(expect.arrayContaining(['MemoryRead', 'MemoryWrite']))
  })

  it('say that there is no search if there is none', async () => {
    const tools = await getBuiltinTools()
    expect(await callToolOf({ tools }, testContext())('WebSearch', { query: 'temporal' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('no search provider is configured'),
    })
  })

  it('refuse a folder that is no absolute path', async () => {
    await expect(getBuiltinTools({ sandboxManager: { root: 'work' } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })
})

describe('an agent', () => {
  const llm = scriptedModel([])

  it('takes them as its tools, and a registry of subagents as its profiles', async () => {
    const subagentRegistry = new SubagentRegistry()
    subagentRegistry.register('reviewer', { systemPrompt: 'You review.', systemPromptMode: 'preset' })
    const tools = await getBuiltinTools({ subagentRegistry })
    const agent = createStelloAgent({ name: 'coder', llm, capabilities: { tools, profiles: subagentRegistry } })
    expect([...agent.tools.keys()]).toHaveLength(23)
    expect([...agent.profiles.keys()]).toEqual(['reviewer'])
  })

  it('mixes packs with tools of its own', () => {
    const agent = defineProfile({ id: 'planner', agent: { model: llm }, capabilities: [planning(), tasks()] })
    expect([...agent.tools.keys()].toSorted()).toEqual([
      'EnterPlanMode',
      'ExitPlanMode',
      'TaskCreate',
      'TaskGet',
      'TaskList',
      'TaskUpdate',
      'TodoWrite',
    ])
  })
})
