/**
 * The other end of a connection vanishes without a word. Whoever waits on it gets an error, and nothing stays held for
 * it.
 */
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { expect, it } from 'vitest'
import { openDatabase, transaction, type Database } from '../../src/store/database/database.ts'
import { createListener } from '../../src/store/database/listener.ts'
import { holdLiveness, newBootId } from '../../src/store/ledger/liveness.ts'
import { readQuestions } from '../../src/store/watching/inbox.ts'
import { readAgents } from '../../src/store/sessions/served-agents.ts'
import { listSessions } from '../../src/store/sessions/sessions.ts'
import { startProxyBefore, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { askedBy, useDatabase } from './postgres.ts'

const at = useDatabase()

/** With one connection per pool, a connection that is still held keeps all others waiting. */
async function behindProxy(): Promise<{ proxy: TcpProxy; db: Database }> {
  const { proxy, url } = await startProxyBefore(at.url)
  return { proxy, db: openDatabase(url, { max: 1, answerWithinMs: 500 }) }
}

it('gives up a statement that is not answered, with its connection', async () => {
  const { proxy, db } = await behindProxy()
  await db.pool.query('select 1')
  proxy.hold()
  await expect(db.pool.query('select 2')).rejects.toThrow('timeout')
  proxy.release()
  expect((await db.pool.query('select 3 as n')).rows).toEqual([{ n: 3 }])
  await db.close()
  await proxy.close()
})

it('gives up a transaction that is not answered, and does not ask to roll it back', async () => {
  const { proxy, db } = await behindProxy()
  const asked: string[] = []
  const unanswered = transaction(db, async (tx) => {
    const query = tx.query.bind(tx) as (text: string) => Promise<unknown>
    Object.assign(tx, { query: (text: string) => (asked.push(text), query(text)) })
    proxy.hold()
    await tx.query('select 1')
  })
  await expect(unanswered).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  expect(asked).toEqual(['select 1'])
  proxy.release()
  expect(await transaction(db, async (tx) => (await tx.query('select 1')).rowCount)).toBe(1)
  await db.close()
  await proxy.close()
})

it.each([
  ['what waits', readQuestions],
  ['sessions', listSessions],
  ['agents', readAgents],
])('gives up a list of %s that is not answered, with its connection', async (_what, list) => {
  const { proxy, db } = await behindProxy()
  await list(db)
  proxy.hold()
  await expect(list(db)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  expect(db.pool.totalCount).toBe(0)
  await db.close()
  await proxy.close()
})

it('keeps its settings beside those of the URL; the URL wins if both state one', async () => {
  const options = '-c search_path=elsewhere -c tcp_keepalives_count=7'
  const db = openDatabase(`${at.url}?${new URLSearchParams({ options, fallback_application_name: 'x' }).toString()}`)
  const shown = async (setting: string): Promise<unknown> =>
    (await db.lazyPool.query<Record<string, string>>(`show ${setting}`)).rows[0]?.[setting]
  const settings = ['search_path', 'tcp_keepalives_count', 'tcp_keepalives_idle', 'synchronous_commit']
  expect(await Promise.all(settings.map(shown))).toEqual(['elsewhere', '7', '5', 'off'])
  await db.close()
})

interface Socket {
  ports: number[]
  /** Seconds until the system sends a probe. */
  probeIn: number | undefined
  /** What was sent is not acknowledged yet. Until then no probe is due. */
  sending: boolean
}

/** Established connections of this machine. */
async function sockets(): Promise<Socket[]> {
  const lines = (await readFile('/proc/net/tcp', 'utf8')).trim().split('\n').slice(1)
  return lines.flatMap((line) => {
    const [, local = '', remote = '', state, , timer = ''] = line.trim().split(/\s+/)
    if (state !== '01') return []
    const [kind, jiffies = ''] = timer.split(':')
    const ports = [local, remote].map((address) => Number.parseInt(address.split(':')[1] ?? '', 16))
    // 01 = something is sent again, 02 = a probe is due; in hundredths of a second.
    return [{ ports, probeIn: kind === '02' ? Number.parseInt(jiffies, 16) / 100 : undefined, sending: kind === '01' }]
  })
}

/** Every kind of connection that exists, all open at once. */
async function openAll(): Promise<{ close(): Promise<void> }> {
  const db = openDatabase(at.url)
  const liveness = await holdLiveness(at.url, newBootId())
  const listener = createListener(at.url)
  let listening = false
  listener.subscribe(
    () => true,
    () => (listening = true),
  )
  await Promise.all([
    db.pool.query('select 1'),
    db.lazyPool.query('select 1'),
    until('it listens', async () => listening),
  ])
  return {
    async close() {
      await listener.close()
      await liveness.release()
      await db.close()
    },
  }
}

it.runIf(process.platform === 'linux')('has both ends of every connection ask whether the other is there', async () => {
  const all = await openAll()
  const watching = new pg.Client({ connectionString: at.url })
  await watching.connect()
  const { rows } = await watching.query<{ name: string; port: number }>(
    `select application_name as name, client_port as port from pg_stat_activity where datname = current_database() and application_name like 'stello%'`,
  )
  await watching.end()
  const names = rows.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['stello', 'stello-liveness', 'stello-listener']))
  const clients = new Set(rows.map(({ port }) => port))
  const server = Number(new URL(at.url).port)
  let ends: Socket[] = []
  await until('all is acknowledged', async () => {
    // A client port alone is not enough, because the same port may also lead to another server.
    ends = (await sockets()).filter(({ ports }) => ports.includes(server) && ports.some((port) => clients.has(port)))
    return !ends.some(({ sending }) => sending)
  })
  expect(ends).toHaveLength(2 * rows.length)
  for (const { probeIn } of ends) expect(probeIn).toBeLessThanOrEqual(5)
  await all.close()
})

it.runIf(process.platform === 'linux')('has the server give up every client that is silent for 15 s', async () => {
  let all: Awaited<ReturnType<typeof openAll>> | undefined
  const clients = new Set(await askedBy(async () => (all = await openAll())))
  // What the server reads back from its socket.
  const SETTINGS = ['tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout']
  const told: string[] = []
  for (const client of clients) {
    const values = ['application_name', 'synchronous_commit', ...SETTINGS].map((name) => `current_setting('${name}')`)
    const { rows } = await client.query<{ told: string }>(`select concat_ws(' ', ${values.join()}) as told`)
    told.push(rows[0]?.told ?? '')
  }
  expect(told.toSorted()).toEqual([
    'stello off 5 1 10 15000',
    'stello on 5 1 10 15000',
    'stello-listener on 5 1 10 15000',
    'stello-liveness on 5 1 10 15000',
    'stello-liveness on 5 1 10 15000',
  ])
  await all?.close()
})

it('gives up every statement after 30 s, unless told otherwise', async () => {
  const db = openDatabase(at.url)
  for (const { options } of [db.pool, db.lazyPool]) expect(options.query_timeout).toBe(30_000)
  await db.close()
})

it('is not cut by a server that ends silent connections, if silence is its purpose', async () => {
  const database = new URL(at.url).pathname.slice(1)
  await at.db.pool.query(`alter database ${database} set idle_session_timeout = '1h'`)
  let all: Awaited<ReturnType<typeof openAll>> | undefined
  const clients = new Set(await askedBy(async () => (all = await openAll())))
  const told: string[] = []
  for (const client of clients) {
    const { rows } = await client.query<{ told: string }>(
      `select concat_ws(' ', current_setting('application_name'), current_setting('idle_session_timeout')) as told`,
    )
    told.push(rows[0]?.told ?? '')
  }
  await at.db.pool.query(`alter database ${database} reset idle_session_timeout`)
  expect(told.toSorted()).toEqual([
    'stello 1h',
    'stello 1h',
    'stello-listener 0',
    'stello-liveness 0',
    'stello-liveness 0',
  ])
  await all?.close()
})
