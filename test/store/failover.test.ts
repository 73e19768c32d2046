/**
 * The workers' locks were on one server, and another server answers now: a promoted replica, a copy, or the same server
 * after a crash.
 */
import { execFile } from 'node:child_process'
import { chmod, chown, copyFile, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { postgresUser, startPostgres, stopPostgres, type PostgresInfo } from '../../src/dev/postgres-server.ts'
import { removePostgres } from '../../src/dev/postgres-cluster.ts'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import { isAlive, newBootId, stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { migrate } from '../../src/store/schema/migrate.ts'
import { enterWorker, claimDeadWorkers } from '../../src/store/ledger/workers.ts'
import { backUp } from '../support/databases.ts'
import { asSuperuser } from '../support/superuser.ts'
import { openSession, take, NAMESPACE, taker } from './fixtures.ts'

const run = promisify(execFile)
/** Grace times: so long that nobody has been there for it, and none at all. */
const [AGES, NOTHING] = [3_600_000, 0]

const NOBODY = '0'

const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

interface Server extends PostgresInfo {
  home: string
  stop(): Promise<void>
}

/** @param prepare what must be in the folder before the server starts; it gets the server's data folder. */
async function start(
  settings: string[] = [],
  prepare?: (home: string, data: string) => Promise<void>,
): Promise<Server> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'stello-failover-')))
  // If the test is root, PostgreSQL runs as another user, and that user must be able to enter.
  await chmod(home, 0o755)
  const runAs = await postgresUser()
  const stop = (): Promise<void> => stopPostgres(home, runAs)
  closing.push(async () => {
    await stop()
    await removePostgres(home, runAs)
    await rm(home, { recursive: true, force: true })
  })
  await prepare?.(home, join(home, 'postgres', 'data'))
  const info = await startPostgres(runAs, { home, settings, onProgress: () => undefined })
  return { ...info, url: await asSuperuser(home, info.url), home, stop }
}

async function copy(from: Server, home: string): Promise<void> {
  await run('cp', ['-a', join(from.home, 'postgres'), home])
  await copyFile(join(from.home, 'postgres.password'), join(home, 'postgres.password'))
  await rm(join(home, 'postgres', 'data', 'postmaster.pid'), { force: true })
}

/** Streams from `primary`, and answers reads. */
async function startReplica(primary: Server): Promise<Server> {
  const { port, password } = new URL(primary.url)
  const source = `primary_conninfo=host=127.0.0.1 port=${port} user=postgres password=${password}`
  return start([source], async (home, data) => {
    const admin = new pg.Client({ connectionString: primary.url })
    await admin.connect()
    await admin.query(`select pg_backup_start('replica', true)`)
    await copy(primary, home)
    const { rows } = await admin.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    await admin.end()
    const files = { backup_label: rows[0]?.labelfile ?? '', 'standby.signal': '' }
    const { uid, gid } = await stat(data)
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(data, name), content)
      await chown(join(data, name), uid, gid)
    }
  })
}

function open(url: string): Database {
  const db = openDatabase(url)
  closing.push(() => db.close())
  return db
}

/** Holds its lock on this server until it dies. It does not come back by itself. */
async function arrive(url: string, bootId: string): Promise<{ die(): Promise<void> }> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  await client.query('select pg_advisory_lock($1::bigint)', [bootId])
  closing.push(() => client.end())
  const db = openDatabase(url)
  await enterWorker(db, { bootId, agent: 'test', namespace: NAMESPACE })
  await db.close()
  return { die: () => client.end() }
}

const deadOn = async (db: Database, judge: string, graceMs: number): Promise<string[]> =>
  (await claimDeadWorkers(db, taker(judge), graceMs)).map(({ bootId }) => bootId).toSorted()

it('on a promoted replica nobody is dead who has not come yet, until the first has been there for long', async () => {
  const primary = await start()
  const before = open(primary.url)
  await migrate(before)
  const replica = await startReplica(primary)
  const [first, second, third] = [newBootId(), newBootId(), newBootId()]
  for (const bootId of [first, second, third]) await arrive(primary.url, bootId)
  const session = await openSession(before)
  await take(before, session, { owner: second })
  const after = open(replica.url)
  await expect.poll(() => after.pool.query('select from steps').then((found) => found.rowCount)).toBe(1)
  await primary.stop()
  await after.pool.query('select pg_promote()')

  expect(await deadOn(after, NOBODY, NOTHING)).toEqual([])
  expect(await isAlive(after, second, { graceMs: NOTHING })).toBe(true)
  await arrive(replica.url, first)
  expect(await stealDeadSteps(after, taker(first), { graceMs: AGES })).toEqual([])
  expect(await deadOn(after, first, AGES)).toEqual([])
  const here = await arrive(replica.url, second)
  expect(await deadOn(after, first, NOTHING)).toEqual([third])
  await here.die()
  await expect.poll(() => deadOn(after, first, AGES)).toEqual([second])
  expect(await stealDeadSteps(after, taker(first), { graceMs: AGES })).toHaveLength(1)
})

it('on a copy of the data nobody is dead who has not come yet', async () => {
  const source = await start()
  const before = open(source.url)
  await migrate(before)
  const [first, second] = [newBootId(), newBootId()]
  for (const bootId of [first, second]) await arrive(source.url, bootId)
  await before.pool.query(`update holders set since = now() - interval '1 day'`)
  await source.stop()
  const copied = await start([], (home) => copy(source, home))
  const after = open(copied.url)
  expect(await deadOn(after, NOBODY, NOTHING)).toEqual([])
  await arrive(copied.url, first)
  expect(await deadOn(after, first, AGES)).toEqual([])
  expect(await deadOn(after, first, NOTHING)).toEqual([second])
})

it('in a database that was restored from a copy nobody is dead who has not come yet, although its server was not restarted', async () => {
  const { url } = await start()
  const db = open(url)
  await migrate(db)
  const bootId = newBootId()
  await arrive(url, bootId)
  const backup = await backUp(url)
  expect(await deadOn(db, NOBODY, AGES)).toEqual([bootId])
  await backup.restore()
  expect(await deadOn(db, NOBODY, NOTHING)).toEqual([])
})

it('after the crash of one of its processes nobody is dead, whatever the database user may see', async () => {
  const { url } = await start()
  const admin = open(url)
  await admin.pool.query(`create role app login password 'secret'`)
  await admin.pool.query('grant create on schema public to app')
  const own = Object.assign(new URL(url), { username: 'app', password: 'secret' }).href
  const db = open(own)
  await migrate(db)
  await arrive(own, newBootId())
  const { rows } = await admin.pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL')
  const locks = (): Promise<number | undefined> =>
    db.pool.query(`select from pg_locks where locktype = 'advisory'`).then(
      ({ rows: held }) => held.length,
      () => undefined,
    )
  await expect.poll(locks, { timeout: 30_000 }).toBe(0)
  expect(await deadOn(db, NOBODY, NOTHING)).toEqual([])
})
