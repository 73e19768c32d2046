/** A child is never allowed more than its parent: what models and clients try, on a running tree. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ForkProfile } from '../../src/agent/profile.ts'
import type { ToolLike } from '../../src/tool/any-tool.ts'
import type { CreateSessionOptions, SessionHandle } from '../../src/client/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { obedient, results } from '../seeds/obedient.ts'
import { onlyChild, profiles } from '../support/forks.ts'
import { ask, eventOf, useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello()

const LOOK = { name: 'look', arguments: {} }
const DROP = { name: 'drop_database', arguments: {} }

/** An agent whose profile `admin` may drop the database, and how often that was done. */
function withAdmin(named: Record<string, ForkProfile> = {}): { agent: TestAgent; dropped: () => number } {
  let drops = 0
  const made = { description: 'd', parameters: { type: 'object' } }
  const look: ToolLike = { ...made, name: 'look', execute: () => 'seen' }
  const drop: ToolLike = { ...made, name: 'drop_database', execute: () => `dropped ${++drops}` }
  const all = { reader: { tools: [look] }, admin: { tools: [look, drop] }, ...named }
  const agent = {
    llm: scriptedModel(obedient),
    systemPrompt: 'You help.',
    systemTools: true,
    capabilities: { tools: [look], profiles: profiles(all) },
  }
  return { agent, dropped: () => drops }
}

async function reader(agent: TestAgent): Promise<SessionHandle> {
  const { taskQueue } = await stello.work(agent)
  return stello.client.createSession({ agent: taskQueue, profile: 'reader' })
}

const fork = (args: object) => ({ name: 'stello_create_session', arguments: { label: 'child', ...args } })

describe('a reader that wants the tools of an admin', () => {
  it.each([
    ['forks into it', fork({ profile: 'admin' })],
    [
      'gives it a task',
      { name: 'new_task', arguments: { label: 'x', message: JSON.stringify([DROP]), profile: 'admin' } },
    ],
  ])('reads that it may not when its model %s, and what it may do', async (_how, call) => {
    const { agent, dropped } = withAdmin()
    const session = await reader(agent)
    expect(await results(session, call)).toEqual([expect.stringMatching(/TOOL_VALIDATION_ERROR.*profile.*reader/s)])
    expect((await session.tree()).children).toEqual([])
    expect(dropped()).toBe(0)
  })

  it('does not get them by a child without a profile, nor by a fork of that child', async () => {
    const { agent, dropped } = withAdmin()
    const session = await reader(agent)
    await results(session, fork({ tools: 'profile:admin', allowedTools: ['drop_database'], permissionMode: 'yolo' }))
    const child = await onlyChild(stello.client, session)
    expect(await results(child, LOOK, DROP, fork({ profile: 'admin' }))).toEqual([
      'seen',
      expect.stringContaining('TOOL_NOT_FOUND'),
      expect.stringContaining('TOOL_VALIDATION_ERROR'),
    ])
    expect((await child.tree()).children).toEqual([])
    expect(dropped()).toBe(0)
  })

  it('gets none when no profile is left for it, even if its model names one', async () => {
    const { agent } = withAdmin({ reader: { forksInto: [] } })
    const session = await reader(agent)
    expect(await results(session, fork({ profile: 'admin' }))).toEqual([
      expect.stringContaining('this session may not fork into profile "admin". Available: none'),
    ])
    expect((await session.tree()).children).toEqual([])
  })

  it('does not begin when a client forks it, and says why', async () => {
    const { agent, dropped } = withAdmin()
    const session = await reader(agent)
    await ask(session, 'hello')
    const child = await session.fork({ label: 'child', profile: 'admin' })
    await child.send(JSON.stringify([DROP]))
    await eventOf(child, 'session.paused')
    expect((await child.state()).pause).toMatchObject({
      reason: 'agent_error',
      message: 'this session may not fork into profile "admin". Available: reader',
      hint: expect.stringContaining('close this session') as string,
    })
    await child.close()
    await eventOf(child, 'session.closed')
    expect(dropped()).toBe(0)
  })

  it('gets them where its profile says so', async () => {
    const { agent, dropped } = withAdmin({ reader: { tools: [], forksInto: ['admin'] } })
    const session = await reader(agent)
    await results(session, fork({ profile: 'admin' }))
    expect(await results(await onlyChild(stello.client, session), DROP)).toEqual(['dropped 1'])
    expect(dropped()).toBe(1)
  })
})

it('the agent itself may fork into every profile', async () => {
  const { agent, dropped } = withAdmin()
  const session = await stello.session(agent)
  await results(session, fork({ profile: 'admin' }))
  await results(await onlyChild(stello.client, session), DROP)
  expect(dropped()).toBe(1)
})

describe('the prompt of a child', () => {
  it('begins with the rules of an agent that locks them, whatever its model, its profile and its parent write', async () => {
    const { agent } = withAdmin({ preset: { systemPrompt: 'Preset.', systemPromptMode: 'preset' } })
    const llm = scriptedModel(obedient)
    const session = await stello.session({ ...agent, llm, systemPrompt: 'Never pay.', lockPrompt: true })
    await results(session, fork({ systemPrompt: 'Pay everybody.' }))
    const child = await onlyChild(stello.client, session)
    await results(child, fork({ systemPrompt: 'Pay twice.', profile: 'preset' }))
    await ask(await onlyChild(stello.client, child), 'hello')
    expect([...new Set(llm.calls.map(({ messages }) => messages[0]?.content))]).toEqual([
      'Never pay.',
      'Never pay.\n\nPay everybody.',
      'Never pay.\n\nPreset.',
    ])
  })

  it('of a client begins with the rules of the profile that its parent is under', async () => {
    const { agent } = withAdmin({ reader: { systemPrompt: 'Only read.', lockPrompt: true } })
    const llm = scriptedModel(obedient)
    const session = await reader({ ...agent, llm })
    const child = await session.fork({ label: 'child', systemPrompt: 'Write.' })
    await ask(child, 'hello')
    expect(llm.calls.at(-1)?.messages[0]?.content).toBe('Only read.\n\nWrite.')
  })
})

it('a JSON body that names tools, a model, limits or a fork makes no session', async () => {
  const { agent } = withAdmin()
  const { taskQueue } = await stello.work(agent)
  const before = (await stello.client.list()).length
  const bodies = [
    '{"tools":"profile:admin"}',
    '{"model":"profile:admin"}',
    '{"limits":{}}',
    '{"fork":{}}',
    '{"locked":0}',
  ]
  for (const body of bodies) {
    const options = { agent: taskQueue, ...(JSON.parse(body) as object) } as CreateSessionOptions
    await expect(stello.client.createSession(options)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  }
  expect(await stello.client.list()).toHaveLength(before)
})

it('a row of another program with an unknown permission mode pauses its session', async () => {
  const name = `modes-${randomBytes(4).toString('hex')}`
  const session = await stello.client.createSession({ agent: name })
  await stello.db.pool.query(`update sessions set config = config || '{"permissionMode":"god"}' where id = $1`, [
    session.id,
  ])
  await stello.work({ ...withAdmin().agent, name })
  await eventOf(session, 'session.paused')
  expect((await session.state()).pause).toMatchObject({
    reason: 'store_error',
    message: expect.stringContaining('permissionMode: must be one of') as string,
  })
})
