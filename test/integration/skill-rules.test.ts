/**
 * The rules of skills in sessions: what a skill allows runs without a question until the turn ends, what it denies does not
 * run, and no skill widens what the agent, a profile or the mode says.
 */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { skills as skillsPack, subagents } from '../../src/capabilities/index.ts'
import type { DurableEvent, SessionHandle } from '../../src/client/index.ts'
import { SkillRouterImpl, type Skill } from '../../src/index.ts'
import { scriptedModel, type ReplyToolCall } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { lastResults, obedientInRounds } from '../seeds/obedient.ts'
import { onlyChild, profiles } from '../support/forks.ts'
import { ask, eventOf, eventsUntil, useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello()

const SHIP: Omit<Skill, 'permissions' | 'scope'> = { name: 'ship', description: 'How to ship', content: 'Ship it.' }
const load: ReplyToolCall = { name: 'Skill', arguments: { skill: 'ship' } }
const deploy: ReplyToolCall = { name: 'deploy' }
const wipe: ReplyToolCall = { name: 'wipe' }
const tools = ['deploy', 'wipe'].map((name) =>
  tool(name, 'd', z.object({}), () => `${name} ran`, { kind: 'execute', ordered: true }),
)

/** An agent with a skill that has these rules. */
function shipping(
  { scope, ...permissions }: NonNullable<Skill['permissions']> & Pick<Skill, 'scope'>,
  more: Partial<TestAgent> = {},
): TestAgent {
  const skills = new SkillRouterImpl().register({ ...SHIP, permissions, ...(scope && { scope }) })
  const { capabilities, ...rest } = more
  return {
    llm: scriptedModel(obedientInRounds),
    permissions: { allow: ['Skill'] },
    capabilities: { tools, skills, packs: [skillsPack()], ...capabilities },
    ...rest,
  }
}

/** Lets the model make these calls in one turn, denies what a person is asked about, and returns what the model reads. */
async function turn(session: SessionHandle, ...rounds: ReplyToolCall[][]): Promise<string[]> {
  const { messageId, result } = await session.send(JSON.stringify(rounds))
  let turn: number | undefined
  for await (const { type, data } of session.watch({ live: false })) {
    if (type === 'turn.started' && data.messageId === messageId) turn = data.turn
    if (type === 'pending.opened' && data.turn === turn) await session.answer(data.id, { decision: 'deny' })
    if (type === 'turn.completed' && data.turn === turn) break
  }
  await result()
  return lastResults(session)
}

const DENIED = (name: string): string => `TOOL_PERMISSION_DENIED: a person did not permit "${name}"`

async function decisions(session: SessionHandle, name: string): Promise<DurableEvent['data'][]> {
  const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
  return events.flatMap((event) =>
    event.type === 'permission.decided' && event.data.name === name ? [event.data] : [],
  )
}

describe('a skill that allows a call', () => {
  it('lets it run without a question from the next answer on, until the turn ends', async () => {
    const session = await stello.session(shipping({ allow: ['deploy'] }))
    const [loaded, ...ran] = await turn(session, [load, deploy], [deploy, wipe], [deploy])
    expect(loaded).toContain('[From your next answer on, until this turn ends: allowed without a question: deploy.')
    expect(ran).toEqual([DENIED('deploy'), 'deploy ran', DENIED('wipe'), 'deploy ran'])
    const bySkill = { decision: 'allow', by: 'rule', rule: 'deploy', why: 'skill ship' }
    expect(await decisions(session, 'deploy')).toMatchObject([
      { decision: 'ask', by: 'mode' },
      { decision: 'deny', by: 'person' },
      bySkill,
      bySkill,
    ])
    expect(await turn(session, [deploy])).toEqual([DENIED('deploy')])
  })

  it('lets it run in other turns if its scope is the session, but not in a child', async () => {
    const session = await stello.session(shipping({ allow: ['deploy'], scope: 'session' }))
    await turn(session, [load])
    expect(await turn(session, [deploy])).toEqual(['deploy ran'])
    expect((await turn(session, [{ name: 'stello_create_session', arguments: { label: 'c' } }])).length).toBe(1)
    const child = await onlyChild(stello.client, session)
    expect(await turn(child, [deploy])).toEqual([DENIED('deploy')])
  })

  it('widens nothing that the agent asks about or denies', async () => {
    const permissions = { allow: ['Skill'], ask: ['deploy'], deny: ['wipe'] }
    const session = await stello.session(shipping({ allow: ['deploy', 'wipe'] }, { permissions }))
    expect((await turn(session, [load], [deploy, wipe])).slice(1)).toEqual([
      DENIED('deploy'),
      expect.stringContaining('TOOL_NOT_FOUND'),
    ])
    const hooks = { canUseTool: () => ({ behavior: 'deny' as const, message: 'not here' }) }
    const guarded = await stello.session(shipping({ allow: ['deploy'] }, hooks))
    expect((await turn(guarded, [load], [deploy])).slice(1)).toEqual(['TOOL_PERMISSION_DENIED: not here'])
  })

  it('widens neither the list of a profile nor plan mode', async () => {
    const narrow = { permissions: { allow: ['Skill', 'wipe'] } }
    const agent = shipping({ allow: ['deploy', 'wipe'] }, { capabilities: { profiles: profiles({ narrow }) } })
    const { taskQueue } = await stello.work(agent)
    const narrowed = await stello.client.createSession({ agent: taskQueue, profile: 'narrow' })
    expect((await turn(narrowed, [load], [deploy, wipe])).slice(1)).toEqual([DENIED('deploy'), 'wipe ran'])
    const plans = await stello.client.createSession({ agent: taskQueue, permissionMode: 'plan' })
    expect(await turn(plans, [load], [deploy])).toEqual([
      expect.stringContaining('in plan mode'),
      expect.stringContaining('in plan mode'),
    ])
  })

  it('is loaded only by Skill: activate_skill, which nobody is asked about, brings no rules', async () => {
    const session = await stello.session(shipping({ allow: ['deploy'] }, { permissions: {} }))
    const activate = { name: 'activate_skill', arguments: { name: 'ship' } }
    expect(await turn(session, [activate], [deploy])).toEqual(['Ship it.', DENIED('deploy')])
    expect(await turn(session, [load], [deploy])).toEqual([DENIED('Skill'), DENIED('deploy')])
  })

  it('holds for a worker that takes over within the turn', async () => {
    const agent = shipping({ allow: ['deploy'] })
    const first = await stello.work(agent)
    const session = await stello.client.createSession({ agent: first.taskQueue })
    const sent = await session.send(JSON.stringify([[load], [wipe], [deploy]]))
    const { data } = await eventOf(session, 'pending.opened')
    await first.stop()
    await stello.work({ ...agent, name: first.taskQueue })
    await session.answer(data.id, { decision: 'deny' })
    await sent.result()
    expect((await lastResults(session)).slice(1)).toEqual([DENIED('wipe'), 'deploy ran'])
  })
})

describe('a skill that denies a call', () => {
  const denied = 'TOOL_PERMISSION_DENIED: "wipe" is denied by the rule wipe of the skill ship'

  it('keeps it from running until the turn ends, also where the agent allows it or asks nobody', async () => {
    for (const permissions of [{ allow: ['Skill', 'wipe'] }, undefined]) {
      const { permissions: _its, ...agent } = shipping({ deny: ['wipe'] })
      const session = await stello.session({ ...agent, ...(permissions && { permissions }) })
      expect((await turn(session, [load], [wipe, ...(permissions ? [] : [deploy])])).slice(1)).toEqual([
        denied,
        ...(permissions ? [] : ['deploy ran']),
      ])
      expect(await decisions(session, 'wipe')).toMatchObject([
        { decision: 'deny', by: 'rule', rule: 'wipe', why: 'skill ship' },
      ])
      expect(await turn(session, [wipe])).toEqual(['wipe ran'])
    }
  })

  it('denies it to children too, whoever opens them', async () => {
    const { permissions: _its, ...agent } = shipping({ deny: ['wipe'] }, { systemTools: true })
    const packs = [skillsPack(), subagents()]
    const lists = { permissions: { mode: 'dontAsk', allow: ['deploy', 'wipe'] } }
    const capabilities = { ...agent.capabilities, packs, profiles: profiles({ lists, asks: { permissions: {} } }) }
    const session = await stello.session({ ...agent, capabilities })
    const fork = { name: 'stello_create_session', arguments: { label: 'fork' } }
    const listed = { name: 'stello_create_session', arguments: { label: 'listed', profile: 'lists' } }
    const task = { name: 'Task', arguments: { description: 'task', prompt: JSON.stringify([[wipe, deploy]]) } }
    await turn(session, [load], [fork, listed, task])
    expect((await session.tree()).children).toHaveLength(3)
    for (const { id, label } of (await session.tree()).children) {
      const child = stello.client.session(id)
      if (label !== 'task') await ask(child, JSON.stringify([[wipe, deploy]]))
      expect(await lastResults(child)).toEqual([
        expect.stringContaining('TOOL_NOT_FOUND: unknown tool "wipe"'),
        'deploy ran',
      ])
      if (label !== 'fork') continue
      await turn(child, [{ name: 'stello_create_session', arguments: { label: 'below', profile: 'asks' } }])
      const below = await onlyChild(stello.client, child)
      expect(await turn(below, [wipe, deploy])).toEqual([expect.stringContaining('TOOL_NOT_FOUND'), DENIED('deploy')])
    }
  })
})
