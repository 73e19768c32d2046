/** The tools of a session, as agent, profile and session decide. */
import { expect, it } from 'vitest'
import { createStelloAgent } from '../../src/agent/agent.ts'
import type { ForkProfile } from '../../src/agent/profile.ts'
import { SkillRouterImpl } from '../../src/agent/skill-router.ts'
import type { ToolLike } from '../../src/tool/any-tool.ts'
import type { CreateSessionOptions, SessionHandle } from '../../src/client/index.ts'
import { scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { onlyChild, profiles } from '../support/forks.ts'
import { ask, useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello()

const FORK = 'stello_create_session'
const SKILL = 'activate_skill'
const skills = new SkillRouterImpl()
  .register({ name: 'review', description: 'Reviews', content: 'Check it.' })
  .register({ name: 'search', description: 'Searches', content: 'Look.' })

/** Calls the tool that its message names, e.g. `b {}`, and then says what the result was. */
function obedient(): ScriptedModel {
  return scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    const [, name, args] = /^(\w+) (\{.*\})$/.exec(last?.content ?? '') ?? []
    return last?.role === 'user' && name ? { toolCalls: [{ name, arguments: args ?? '' }] } : (last?.content ?? '')
  })
}

function tools(...names: string[]): ToolLike[] {
  return names.map((name) => ({
    name,
    description: `does ${name}`,
    parameters: { type: 'object' },
    execute: () => `my ${name} ran`,
  }))
}

async function begin(
  agent: Omit<TestAgent, 'llm'>,
  options: Partial<CreateSessionOptions> = {},
): Promise<{ session: SessionHandle; llm: ScriptedModel; offered(): string[] }> {
  const llm = obedient()
  const { taskQueue } = await stello.work({ llm, ...agent })
  const session = await stello.client.createSession({ agent: taskQueue, ...options })
  return { session, llm, offered: () => llm.calls.at(-1)?.tools.map(({ name }) => name) ?? [] }
}

const forkTo = (profile?: string): string => `${FORK} ${JSON.stringify({ label: 'child', profile })}`

it('agent, session, profile and every child below can only remove tools', async () => {
  const capabilities = {
    tools: tools('a', 'b', 'c', 'd'),
    profiles: profiles({
      narrow: { allowedTools: ['b', 'c', 'd'], disallowedTools: ['c'] },
      wide: { allowedTools: ['a', 'b', 'c', 'd'], disallowedTools: [], forksInto: ['own'] },
      own: { tools: tools('b', 'z') },
    }),
  }
  const { session, offered } = await begin(
    { capabilities, disallowedTools: ['a'] },
    { allowedTools: ['a', 'b', 'c'], disallowedTools: [] },
  )
  await ask(session, forkTo('narrow'))
  expect(offered()).toEqual([FORK, 'b', 'c'])
  const child = await onlyChild(stello.client, session)
  await ask(child, forkTo('wide'))
  expect(offered()).toEqual([FORK, 'b'])
  const grandchild = await onlyChild(stello.client, child)
  expect(await ask(grandchild, 'c {}')).toBe(`TOOL_NOT_FOUND: unknown tool "c". Available: ${FORK}, b`)
  expect(await ask(grandchild, 'b {}')).toBe('my b ran')
  await ask(grandchild, forkTo('own'))
  await ask(await onlyChild(stello.client, grandchild), 'hello')
  expect(offered()).toEqual([FORK, 'b'])
})

it.each<[string, ForkProfile, string[]]>([
  ['allowed tools', { allowedTools: ['b'] }, [SKILL, FORK, 'b']],
  ['forbidden tools', { disallowedTools: ['b', FORK] }, [SKILL, 'a']],
  ['skills', { skills: [] }, [FORK, 'a', 'b']],
])('a session that begins with a profile has its %s', async (_what, profile, names) => {
  const capabilities = { tools: tools('a', 'b'), skills, profiles: profiles({ profile }) }
  const { session, offered } = await begin({ capabilities }, { profile: 'profile' })
  await ask(session, 'hello')
  expect(offered()).toEqual(names)
})

it('allowedTools leaves Stello’s own tools, and disallowedTools removes them, so that they cannot be called', async () => {
  const capabilities = { tools: tools('a'), skills }
  const allowing = await begin({ capabilities, systemTools: true }, { allowedTools: [] })
  expect(await ask(allowing.session, `${SKILL} {"name": "review"}`)).toBe('Check it.')
  expect(allowing.offered()).toEqual([SKILL, FORK])
  const forbidding = await begin({ capabilities }, { disallowedTools: [SKILL, FORK] })
  expect(await ask(forbidding.session, forkTo())).toBe(`TOOL_NOT_FOUND: unknown tool "${FORK}". Available: a`)
  expect(forbidding.offered()).toEqual(['a'])
  expect((await forbidding.session.tree()).children).toEqual([])
})

it('the model sees built-in tools, then user tools, each A to Z, in whatever order they were given', async () => {
  const { session, offered } = await begin({
    capabilities: { tools: tools('zip', 'Read', '_x', 'apply'), skills },
    systemTools: true,
  })
  await ask(session, 'hello')
  expect(offered()).toEqual([SKILL, 'attempt_completion', 'new_task', FORK, 'Read', '_x', 'apply', 'zip'])
})

it('a user tool replaces a built-in of its name, but never one of Stello’s two', async () => {
  const { session, offered } = await begin({
    capabilities: { tools: tools('new_task', 'attempt_completion', FORK, SKILL), skills },
    systemTools: true,
  })
  expect(await ask(session, 'new_task {}')).toBe('my new_task ran')
  expect(await ask(session, 'attempt_completion {}')).toBe('my attempt_completion ran')
  expect(await ask(session, `${SKILL} {"name": "search"}`)).toBe('Look.')
  expect(offered()).toEqual([SKILL, FORK, 'attempt_completion', 'new_task'])
  expect(stello.warnings.filter((warning) => warning.includes('is left out'))).toHaveLength(2)
})

it('two user tools of one name are refused before anything starts', () => {
  const agent = { name: 'twice', llm: obedient(), capabilities: { tools: tools('a', 'a') } }
  expect(() => createStelloAgent(agent)).toThrow(/tool "a" is there twice/)
})

it('a filter that is no list of names is refused where it is stated', async () => {
  const problem = /llowedTools: must be a list of tool names/
  const wrong = 'read_file' as unknown as string[]
  expect(() => createStelloAgent({ name: 'x', llm: obedient(), allowedTools: wrong })).toThrow(problem)
  expect(() => profiles({ p: { disallowedTools: wrong } })).toThrow(problem)
  await expect(stello.client.createSession({ agent: 'x', allowedTools: wrong })).rejects.toThrow(problem)
})
