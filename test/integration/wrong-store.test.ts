/**
 * A worker and a session with different stores meet on one task queue. Nothing of one store is written into the other.
 */
import { randomBytes } from 'node:crypto'
import type { temporal } from '@temporalio/proto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createStelloAgent, type StelloAgent } from '../../src/agent/agent.ts'
import { connectStello, type SessionHandle, type StelloClient } from '../../src/client/index.ts'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import { readIdentity } from '../../src/store/database/identity.ts'
import { migrate } from '../../src/store/schema/migrate.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { startWorker, type StelloWorker } from '../../src/worker.ts'
import { createDatabase, swapDatabases } from '../support/databases.ts'
import { ask, quietRuntime, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const script = (): ScriptedModel => scriptedModel(({ messages }) => `answer to ${messages.at(-1)?.content}`)
const agentWith = (llm: ScriptedModel): StelloAgent =>
  createStelloAgent({ name: `stores-${randomBytes(4).toString('hex')}`, llm })

interface OtherStore {
  url: string
  db: Database
  client: StelloClient
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** With a schema, and without a session. */
async function otherStore(): Promise<OtherStore> {
  const { url, drop } = await createDatabase(stello.servers.databaseUrl)
  closing.push(drop)
  const db = openDatabase(url)
  closing.push(() => db.close())
  await migrate(db)
  const client = await connectStello({ ...stello.servers, databaseUrl: url })
  closing.push(() => client.close())
  return { url, db, client }
}

/** A worker that ends by itself. */
function serveOn(databaseUrl: string, agent: StelloAgent): Promise<StelloWorker> {
  quietRuntime()
  const log = { info: () => undefined, warn: () => undefined }
  return startWorker({ agent, ...stello.servers, databaseUrl, log, shutdownGraceMs: 0 })
}

async function openOn(client: StelloClient, { name }: StelloAgent, count: number): Promise<SessionHandle[]> {
  return Promise.all(Array.from({ length: count }, () => client.createSession({ agent: name })))
}

/** What Temporal shows of the last attempt at the step that a session waits for. */
async function refusalOf(session: SessionHandle): Promise<{ message: string; delayMs: number }> {
  const described = await stello.client.temporal.workflow.getHandle(session.id).describe()
  const [waiting] = described.raw.pendingActivities ?? []
  const { currentRetryInterval } = waiting ?? {}
  const delayMs = Number(currentRetryInterval?.seconds ?? 0) * 1000 + Number(currentRetryInterval?.nanos ?? 0) / 1e6
  return { message: waiting?.lastFailure?.message ?? '', delayMs }
}

const until = <T>(look: () => T | Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 30_000 })
const rowsOf = async (db: Database): Promise<unknown[]> =>
  (await db.pool.query('select session_id from steps union all select session_id from events')).rows

describe('a worker on the wrong store', () => {
  it('gives back what it is handed and ends, naming both stores; nothing is paused, asked twice or written', async () => {
    const [llm, other] = [script(), await otherStore()]
    const agent = agentWith(llm)
    const sessions = await openOn(stello.client, agent, 10)
    const turns = await Promise.all(sessions.map((session) => session.send('tea')))
    // It has a session with the same id, which is possible if callers choose their ids.
    const taken = { agent: agent.name, label: 'main', model: 'agent', tools: 'agent' } as const
    const sessionId = sessions[0]?.id ?? ''
    await createSession(other.db, { sessionId, rootId: sessionId, depth: 0, config: taken })

    const wrong = await serveOn(other.url, agent)
    const error: unknown = await wrong.stopped.catch((why: unknown) => why)
    const identities = [await readIdentity(stello.db), await readIdentity(other.db)]
    const { pathname, password } = new URL(other.url)
    expect(error).toMatchObject({ code: 'WRONG_STORE', hint: expect.stringContaining('STELLO_DATABASE_URL') })
    for (const named of [...identities, pathname]) expect(String(error)).toContain(named)
    expect(String(error)).not.toContain(password)
    await expect(wrong.stop()).rejects.toBe(error)
    expect(await rowsOf(other.db)).toEqual([])

    await stello.serve(agent)
    for (const turn of turns) expect((await turn.result()).text).toBe('answer to tea')
    expect(llm.calls).toHaveLength(10)
    for (const session of sessions) {
      const events: string[] = []
      await session.close()
      for await (const { type } of session.watch({ live: false })) events.push(type)
      expect(events).not.toContain('session.paused')
    }
    const { rows } = await stello.db.pool.query('select from steps where failures > 0 or deaths > 0')
    expect(rows).toEqual([])
  })

  it('ends also if its URL leads to another store only later, and no step meets that store', async () => {
    const [first, second] = [await otherStore(), await otherStore()]
    const [llm, identities] = [script(), [await readIdentity(first.db), await readIdentity(second.db)]]
    const agent = agentWith(llm)
    const worker = await serveOn(first.url, agent)
    const [session] = (await openOn(first.client, agent, 1)) as [SessionHandle]
    expect(await ask(session, 'tea')).toBe('answer to tea')

    const workflow = stello.client.temporal.workflow.getHandle(session.id)
    await swapDatabases(first.url, second.url, async () => {
      await workflow.signal('message', { messageId: 'meanwhile', text: 'milk' })
      await until(async () => expect((await refusalOf(session)).message).toContain('the store'))
    })
    const error: unknown = await worker.stopped.catch((why: unknown) => why)
    expect(error).toMatchObject({ code: 'WRONG_STORE', message: expect.stringContaining('another store now') })
    for (const named of identities) expect(String(error)).toContain(named)

    await swapDatabases(first.url, second.url)
    const back = await serveOn(first.url, agent)
    await vi.waitFor(async () => expect(llm.calls).toHaveLength(2), { timeout: 50_000 })
    await back.stop()
    const { rows } = await first.db.pool.query("select type from events where type = 'session.paused'")
    expect(rows).toEqual([])
    expect(await rowsOf(second.db)).toEqual([])
  })
})

describe('a session that another store has left over', () => {
  it('ends no worker that serves sessions of its own, nor one that starts later: it waits, and tries less and less often', async () => {
    const [gone, agent] = [await otherStore(), agentWith(script())]
    const first = await stello.serve(agent)
    const [own] = (await openOn(stello.client, agent, 1)) as [SessionHandle]
    expect(await ask(own, 'tea')).toBe('answer to tea')
    await own.close()

    const [left] = (await openOn(gone.client, agent, 1)) as [SessionHandle]
    closing.push(() => stello.client.temporal.workflow.getHandle(left.id).terminate())
    await until(async () => expect((await refusalOf(left)).delayMs).toBeGreaterThanOrEqual(1000))
    expect((await refusalOf(left)).message).toContain(`belongs to store ${await readIdentity(gone.db)}`)
    expect(stello.warnings).toEqual([expect.stringContaining('belongs to store')])
    await first.stop()

    // The worker knows only what the store and Temporal say about earlier sessions.
    const next = await stello.serve(agent)
    const [another] = (await openOn(gone.client, agent, 1)) as [SessionHandle]
    closing.push(() => stello.client.temporal.workflow.getHandle(another.id).terminate())
    await until(async () => expect((await refusalOf(another)).message).toContain('belongs to store'))
    const [second] = (await openOn(stello.client, agent, 1)) as [SessionHandle]
    expect(await ask(second, 'tea')).toBe('answer to tea')
    await next.stop()
    expect(await rowsOf(gone.db)).toEqual([])
  })
})

describe('the identity of its store', () => {
  /** For each run, what its activities were told. */
  async function toldIn(sessionId: string, runId?: string): Promise<unknown[]> {
    const { events } = await stello.client.temporal.workflow.getHandle(sessionId, runId).fetchHistory()
    const inputs = (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.input?.payloads ?? [],
    )
    return inputs.map((payload: temporal.api.common.v1.IPayload) => {
      const input = JSON.parse(Buffer.from(payload.data ?? []).toString()) as {
        store?: string
        step?: { store?: string }
      }
      return (input.step ?? input).store
    })
  }

  it('reaches every activity of a session and of its forks, and shows in Temporal', async () => {
    const llm = scriptedModel(({ messages }) =>
      messages.at(-1)?.content === 'go'
        ? { toolCalls: [{ name: 'new_task', arguments: { label: 'child', message: 'tea' } }] }
        : 'done',
    )
    const { taskQueue } = await stello.work({ llm, systemTools: true })
    const session = await stello.client.createSession({ agent: taskQueue })
    expect(await ask(session, 'go')).toBe('done')
    const forked = await session.fork({ label: 'by a client' })
    expect(await ask(forked, 'tea')).toBe('done')
    const identity = await readIdentity(stello.db)
    const { children } = await session.tree()
    expect(children).toHaveLength(2)
    for (const id of [session.id, ...children.map((child) => child.id)]) {
      const told = await toldIn(id)
      expect(told.length).toBeGreaterThan(1)
      expect(new Set(told)).toEqual(new Set([identity]))
      expect((await stello.client.temporal.workflow.getHandle(id).describe()).memo).toMatchObject({ store: identity })
    }
  })
})
