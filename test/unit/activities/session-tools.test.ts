/** The tools of a session, with those of packs that are asked for their tools. */
import { describe, expect, it } from 'vitest'
import { askedTools, toolsForCall } from '../../../src/activities/tool/session-tools.ts'
import { createStelloAgent, type AgentDefinition } from '../../../src/agent/agent.ts'
import type { CapabilityPack, PackTools } from '../../../src/agent/capability-pack.ts'
import { toolNotFound } from '../../../src/agent/tool-list.ts'
import type { SessionConfig } from '../../../src/protocol/config.ts'
import type { ToolLike } from '../../../src/tool/any-tool.ts'
import { llm, named } from '../agent/authoring.ts'

const never = new AbortController().signal

function asking(
  tools: PackTools,
  { config, ...agent }: Partial<AgentDefinition> & { config?: Partial<SessionConfig> } = {},
) {
  const packs: CapabilityPack[] = [{ name: 'weather', tools }]
  const capabilities = { ...agent.capabilities, packs }
  return {
    agent: createStelloAgent({ name: 'a', llm, ...agent, capabilities }),
    sessionId: 's-1',
    session: {
      rootId: 's-1',
      depth: 0,
      config: { agent: 'a', label: 'l', model: 'agent', tools: 'agent', ...config } as const,
    },
    stop: never,
  }
}
const namesOf = async (...args: Parameters<typeof asking>): Promise<string[]> =>
  (await askedTools(asking(...args))).names.filter((name) => name !== 'stello_create_session')

describe('a pack that is asked', () => {
  it('is told of the session, and its list may change from one time to the next', async () => {
    const lists = [[named('rain')], [named('rain'), named('snow')]]
    const told: unknown[] = []
    const of = asking((session) => (told.push(session.userId), lists.shift() ?? []), { config: { userId: 'ada' } })
    expect((await askedTools(of)).find('snow')).toBeUndefined()
    expect((await askedTools(of)).find('snow')).toBeDefined()
    expect(told).toEqual(['ada', 'ada'])
  })

  it('gives way to a tool of the agent, and is filtered like any other', async () => {
    const capabilities = { tools: [{ ...named('rain'), description: 'of the agent' }] }
    const tools = await askedTools(asking(() => [named('rain'), named('snow')], { capabilities }))
    expect(tools.specs.find(({ name }) => name === 'rain')?.description).toBe('of the agent')
    expect(await namesOf(() => [named('rain'), named('snow')], { disallowedTools: ['snow'] })).toEqual(['rain'])
  })

  it('is not asked for a session under a profile that lists its tools', async () => {
    expect(await namesOf(() => Promise.reject(new Error('asked')), { config: { tools: 'profile:p' } })).toEqual([])
  })

  it.each([
    ['a failure', () => Promise.reject(new Error('no server')), 'no server'],
    ['what is no list', () => 'rain' as never, 'tools must give a list, not string'],
    ['a name that is none', () => [{ ...named('rain'), name: 'no name' } as ToolLike], 'no name'],
    ['a name that comes twice', () => [named('rain'), named('rain')], 'tool "rain" is there twice'],
  ])('makes %s an error that names it, instead of leaving its tools out', async (_what, tools, problem) => {
    await expect(askedTools(asking(tools as PackTools))).rejects.toMatchObject({
      code: 'TOOLS_UNAVAILABLE',
      message: expect.stringMatching(/^the tools of pack "weather" are not known now: /),
    })
    await expect(askedTools(asking(tools as PackTools))).rejects.toThrow(problem)
  })
})

describe('for one call', () => {
  it('no pack is asked if the tool is listed', async () => {
    const capabilities = { tools: [named('lamp')] }
    const of = asking(() => Promise.reject(new Error('asked')), { capabilities })
    expect((await toolsForCall(of, 'lamp')).find('lamp')).toBeDefined()
  })

  it('a pack that does not answer is the reason why the tool was not run', async () => {
    const tools = await toolsForCall(
      asking(() => Promise.reject(new Error('no server'))),
      'rain',
    )
    expect(toolNotFound('rain', tools)).toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: 'tool "rain" was not run: the tools of pack "weather" are not known now: no server',
    })
  })
})
