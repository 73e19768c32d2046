/**
 * The owner of a session: a tree belongs to the user that its root was created for, and no session below can change
 * that.
 */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SessionFork } from '../../src/agent/agent.ts'
import type { SessionContext } from '../../src/tool/tool.ts'
import { filesystem } from '../../src/capabilities/index.ts'
import type { ForkOptions, SessionHandle } from '../../src/client/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { obedient, results } from '../seeds/obedient.ts'
import { onlyChild, profiles } from '../support/forks.ts'
import { ask, eventOf, useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello()

const READ = { name: 'Read', arguments: { file_path: 'notes.txt' } }

/** A folder per user. Sessions without a user work in alice's folder, as a careless author may write it. */
async function folderPerUser(more: Partial<TestAgent> = {}): Promise<TestAgent> {
  const base = await mkdtemp(join(tmpdir(), 'stello-owners-'))
  onTestFinished(() => rm(base, { recursive: true }))
  for (const user of ['alice', 'bob']) {
    await mkdir(join(base, user))
    await writeFile(join(base, user, 'notes.txt'), `of ${user}\n`)
  }
  const { tools } = filesystem({ sandboxManager: { root: ({ userId = 'alice' }) => join(base, userId) } })
  return { llm: scriptedModel(obedient), systemTools: true, capabilities: { tools }, ...more }
}

async function sessionOf(userId: string, agent: TestAgent): Promise<SessionHandle> {
  const { taskQueue } = await stello.work(agent)
  return stello.client.createSession({ agent: taskQueue, userId })
}

describe('the child of bob reads the file of bob, not that of alice,', () => {
  it.each([
    ['forked by a model', { name: 'stello_create_session', arguments: { label: 'child' } }],
    [
      'forked by a model that claims to be alice',
      { name: 'stello_create_session', arguments: { label: 'child', userId: 'alice', vars: { userId: 'alice' } } },
    ],
    ['that has a task', { name: 'new_task', arguments: { label: 'child', message: JSON.stringify([READ]) } }],
  ])('%s', async (_how, call) => {
    const bobs = await sessionOf('bob', await folderPerUser())
    await results(bobs, call)
    const child = await onlyChild(stello.client, bobs)
    if (call.name === 'stello_create_session') await results(child, READ)
    const read = (await child.transcript()).filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(read).toEqual([expect.stringContaining('of bob')])
  })

  it('forked by a client, and so does a fork of that child', async () => {
    const bobs = await sessionOf('bob', await folderPerUser())
    const child = await bobs.fork({ label: 'child' })
    expect(await results(child, READ)).toEqual([expect.stringContaining('of bob')])
    await results(child, { name: 'stello_create_session', arguments: { label: 'grandchild' } })
    const grandchild = await onlyChild(stello.client, child)
    expect(await results(grandchild, READ)).toEqual([expect.stringContaining('of bob')])
  })
})

it('a fork of a client that names another user is refused, and makes no session', async () => {
  const bobs = await sessionOf('bob', await folderPerUser())
  const body = { label: 'child', userId: 'alice' } as ForkOptions
  await expect(bobs.fork(body)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('userId') as string,
  })
  expect((await bobs.tree()).children).toEqual([])
})

it('tools, factories, descriptions, folders and hooks are told the same about a session', async () => {
  const told: Record<string, unknown> = {}
  const tell = (who: string, { sessionId, rootId, parentId, depth, userId, profile }: Omit<SessionContext, 'signal'>) =>
    (told[who] = { sessionId, rootId, parentId, depth, userId, profile })
  const base = await mkdtemp(join(tmpdir(), 'stello-owners-'))
  onTestFinished(() => rm(base, { recursive: true }))
  const root = (session: SessionContext): string => {
    tell('root', session)
    return base
  }
  const made = { name: 'made', description: 'd', parameters: { type: 'object' }, execute: () => 'ok' }
  const bobs = await sessionOf('bob', {
    llm: scriptedModel(obedient),
    onSessionFork: (fork: SessionFork) => void tell('hook', fork),
    capabilities: {
      tools: [
        ...filesystem({ sandboxManager: { root } }).tools,
        { ...made, name: 'plain', execute: (_args, ctx) => (tell('plain', ctx), 'ok') },
        { name: 'made', factory: (session: SessionContext) => (tell('factory', session), made) },
      ],
      profiles: profiles({ narrow: {} }),
    },
  })
  const child = await bobs.fork({ label: 'child', profile: 'narrow' })
  await results(child, { name: 'made', arguments: {} }, { name: 'plain', arguments: {} }, READ)
  const about = {
    sessionId: child.id,
    rootId: bobs.id,
    parentId: bobs.id,
    depth: 1,
    userId: 'bob',
    profile: 'narrow',
  }
  expect(told).toEqual({ root: about, hook: about, plain: about, factory: about })

  await results(child, { name: 'stello_create_session', arguments: { label: 'grandchild' } })
  const grandchild = await onlyChild(stello.client, child)
  await results(grandchild, { name: 'made', arguments: {} }, { name: 'plain', arguments: {} }, READ)
  // It is still bound by the rules of its parent, although no profile was named.
  const below = { ...about, sessionId: grandchild.id, parentId: child.id, depth: 2 }
  expect(told).toEqual({ root: below, hook: below, plain: below, factory: below })
})

it('a folder that is made of a missing value is refused, in words for people and model, and is not made', async () => {
  const base = await mkdtemp(join(tmpdir(), 'stello-owners-'))
  onTestFinished(() => rm(base, { recursive: true }))
  const { tools } = filesystem({ sandboxManager: { root: ({ userId }) => join(base, String(userId)) } })
  const session = await stello.session({ llm: scriptedModel(obedient), capabilities: { tools } })
  expect(await results(session, READ)).toEqual([
    expect.stringMatching(/TOOL_EXECUTION_ERROR.*sandboxManager\.root of this agent .*holds "undefined"/s),
  ])
  expect(await readdir(base)).toEqual([])
})

it('a session without a user says that it has none, at the root of its tree', async () => {
  const told: object[] = []
  const { taskQueue } = await stello.work({
    llm: scriptedModel(obedient),
    capabilities: {
      tools: [
        {
          name: 'look',
          description: 'd',
          parameters: { type: 'object' },
          execute: (_args, ctx) => {
            told.push(Object.keys(ctx).filter((key) => ['userId', 'parentId', 'profile'].includes(key)))
            told.push({ rootId: ctx.rootId, depth: ctx.depth })
            return 'ok'
          },
        },
      ],
    },
  })
  const session = await stello.client.createSession({ agent: taskQueue })
  await results(session, { name: 'look', arguments: {} })
  expect(told).toEqual([[], { rootId: session.id, depth: 0 }])
})

describe('what is no name of a folder is no user', () => {
  it.each(['', '..', '.', '../alice', 'a/b', 'a\\b', 'a\0b', 'a\nb', 'a b', 'ä', 'x'.repeat(101), 'undefined', 'null'])(
    'createSession refuses %j',
    async (userId) => {
      await expect(stello.client.createSession({ agent: 'a', userId })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^createSession: userId: /) as string,
      })
    },
  )

  it.each(['bob', 'bob+work@example.com', 'u-1_2.3', '0'])('createSession takes %j', async (userId) => {
    const session = await stello.client.createSession({ agent: `none-${process.pid}`, userId })
    const { rows } = await stello.db.pool.query<{ user: string }>(
      `select config->>'userId' as user from sessions where id = $1`,
      [session.id],
    )
    expect(rows).toEqual([{ user: userId }])
  })

  it('a row of another program with such a user pauses its session before anything runs', async () => {
    const name = `owned-${process.pid}`
    const session = await stello.client.createSession({ agent: name, userId: 'bob' })
    await stello.db.pool.query(`update sessions set config = config || '{"userId":"../alice"}' where id = $1`, [
      session.id,
    ])
    const llm = scriptedModel(() => 'hi')
    await stello.work({ name, llm })
    await eventOf(session, 'session.paused')
    expect((await session.state()).pause).toMatchObject({
      reason: 'store_error',
      message: expect.stringContaining('userId: "../alice"') as string,
    })
    expect(llm.calls).toEqual([])
    await stello.db.pool.query(`update sessions set config = config || '{"userId":"bob"}' where id = $1`, [session.id])
    await session.resume()
    expect(await ask(session, 'hello')).toBe('hi')
  })
})
