/** Real servers, real kills. How Temporal is found is tested in find-temporal.test.ts. */
import { Connection } from '@temporalio/client'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { readDevInfo } from '../../src/dev/dev-info.ts'
import { openDevServers, removeDevHome, stopDevServers } from '../../src/dev/dev-servers.ts'
import { inspectServers } from '../../src/doctor/inspect-servers.ts'
import { diagnose } from '../../src/doctor/diagnose.ts'
import { postgresUser } from '../../src/dev/postgres-server.ts'
import { commandLine, endProcess, findProcesses, hasArguments, identify } from '../../src/dev/processes.ts'
import { asSuperuser } from '../support/superuser.ts'
import { quietPort } from '../support/quiet-port.ts'
import { kill, launch, newHome, query } from './homes.ts'

afterEach(() => vi.unstubAllEnvs())

const isRoot = process.getuid?.() === 0
const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8)

describe('start', () => {
  it('gives two servers that answer, and says where they are in files that only the owner can read', async () => {
    const home = await newHome()
    const { temporal, postgres, joined, info } = await openDevServers({ home })

    expect(joined).toBe(false)
    expect(await query(postgres.url, 'select current_database() as name')).toEqual([{ name: 'stello' }])
    expect((await fetch(temporal.uiUrl ?? '')).status).toBe(200)
    expect(await readDevInfo(home)).toEqual(info)
    expect(await Promise.all([home, join(home, 'dev.json'), join(home, 'postgres.password')].map(modeOf))).toEqual([
      // The user of PostgreSQL may enter the folder, and sees nothing in it.
      isRoot ? '711' : '700',
      '600',
      '600',
    ])
  })

  it('creates a database in UTF-8 and locale C that needs a password, on loopback and without a socket', async () => {
    const home = await newHome()
    const { postgres } = await openDevServers({ home })
    const settings = ['server_encoding', 'listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit']
    const rows = await query(
      await asSuperuser(home, postgres.url),
      `select ${settings.map((name) => `current_setting('${name}') as ${name}`).join(', ')},
      (select datcollate from pg_database where datname = current_database()) as locale`,
    )
    expect(rows[0]).toEqual({
      server_encoding: 'UTF8',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'on',
      synchronous_commit: 'on',
      locale: 'C',
    })
    const wrong = new URL(postgres.url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'select 1')).rejects.toThrow('password authentication failed')
  })

  it.each([
    ['waits for the disk where a power cut must lose nothing', true, 'FULL'],
    ['otherwise leaves its last seconds to the system', false, 'NORMAL'],
  ])('gives a Temporal that %s', async (_what, durable, synchronous) => {
    const { temporal } = await openDevServers({ home: await newHome(), durable })
    expect(/synchronous=\w+/.exec(commandLine(temporal.pid ?? 0))?.[0]).toBe(`synchronous=${synchronous}`)
  })

  it('gives the doctor nothing to complain about, and the doctor never prints the password', async () => {
    const home = await newHome()
    const { postgres } = await openDevServers({ home })
    const findings = [...(await diagnose(home)), ...(await inspectServers({ home }))]

    expect(findings.filter(({ ok, warning }) => !ok || warning)).toEqual([])
    expect(findings).toContainEqual(expect.objectContaining({ name: 'Schema', ok: true }))
    expect(JSON.stringify(findings)).not.toContain(new URL(postgres.url).password)
  })

  it('refuses a port that is taken, and names it', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const home = await newHome()
    await expect(openDevServers({ home, postgresPort: port })).rejects.toThrow(
      `port ${port}, asked for PostgreSQL, is taken`,
    )
    server.close()
    expect(findProcesses(['--db-filename', join(home, 'temporal.db')])).toEqual([])
  })
})

describe('a second start in the same folder', () => {
  it('joins the servers of the first, and its stop leaves them running', async () => {
    const home = await newHome()
    const first = await launch(home)
    const second = await openDevServers({ home })

    expect(second.joined).toBe(true)
    expect([second.temporal.pid, second.postgres.pid]).toEqual([first.temporalPid, first.postgresPid])
    await second.stop()
    expect(await readDevInfo(home)).toBeDefined()
    await second.stop({ force: true })
    expect(await readDevInfo(home)).toBeUndefined()
  })

  it('at the same time as the first: both get the same pair of servers', async () => {
    const home = await newHome()
    const [one, other] = await Promise.all([launch(home), launch(home)])

    expect(one.temporalPid).toBe(other.temporalPid)
    expect(one.postgresPid).toBe(other.postgresPid)
    expect(one.joined).not.toBe(other.joined)
    expect(findProcesses(['--db-filename', join(home, 'temporal.db')])).toHaveLength(1)
    expect(await query(one.url, 'select 1 as one')).toEqual(await query(other.url, 'select 1 as one'))
  })
})

describe('servers left behind', () => {
  it('by a killed launcher are taken over with their data, and stopped by the new launcher', async () => {
    const home = await newHome()
    const launched = await launch(home)
    await query(launched.url, 'create table kept as select 42 as answer')
    await kill(launched.child)
    const { temporal, postgres, joined, stop } = await openDevServers({ home })

    expect(joined).toBe(false)
    expect([temporal.pid, postgres.pid]).toEqual([launched.temporalPid, launched.postgresPid])
    expect(await query(postgres.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    await stop()
    expect([temporal.pid, postgres.pid].map((pid) => identify(pid ?? 0))).toEqual([undefined, undefined])
  })

  it('are found without dev.json too, so that no second Temporal runs on one SQLite file', async () => {
    const home = await newHome()
    const launched = await launch(home)
    await kill(launched.child)
    await rm(join(home, 'dev.json'))
    const { temporal, postgres } = await openDevServers({ home })

    expect([temporal.pid, postgres.pid]).toEqual([launched.temporalPid, launched.postgresPid])
    expect(temporal.address).toBe(launched.address)
  })

  it('of which one is dead are completed: the dead one is started again with what was committed', async () => {
    const home = await newHome()
    const launched = await launch(home)
    await query(launched.url, 'create table kept as select 42 as answer')
    await kill(launched.child)
    const server = identify(launched.postgresPid)
    if (server) await endProcess(server, 'SIGKILL')
    expect(await readDevInfo(home)).toBeUndefined()
    const { temporal, postgres } = await openDevServers({ home })

    expect(temporal.pid).toBe(launched.temporalPid)
    expect(postgres.pid).not.toBe(launched.postgresPid)
    expect(await query(postgres.url, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  it('of which only a postmaster.pid with the pid of another process is left are started', async () => {
    const home = await newHome()
    const first = await openDevServers({ home })
    const pidFile = join(first.info.postgres.dataFolder ?? '', 'postmaster.pid')
    const content = await readFile(pidFile, 'utf8')
    await first.stop()
    const user = await postgresUser()
    const stranger = spawn('sleep', ['600'], user ? { uid: user.uid, gid: user.gid, cwd: '/' } : {})
    try {
      await writeFile(pidFile, content.replace(/^\d+/, String(stranger.pid)))
      const { postgres } = await openDevServers({ home })
      expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
      expect(identify(stranger.pid ?? 0)).toBeDefined()
    } finally {
      stranger.kill()
    }
  })
})

describe('stop', () => {
  it('keeps the data and the ports for the next start', async () => {
    const home = await newHome()
    // Nobody takes them by chance meanwhile.
    const [temporalPort, uiPort, postgresPort] = [await quietPort(), await quietPort(), await quietPort()]
    const first = await openDevServers({ home, temporalPort, uiPort, postgresPort })
    await query(first.postgres.url, 'create table kept as select 42 as answer')
    const connection = await Connection.connect({ address: first.temporal.address })
    const { workflowService } = connection
    const execution = { workflowId: 'kept' }
    await workflowService.startWorkflowExecution({
      ...execution,
      namespace: 'default',
      workflowType: { name: 'none' },
      taskQueue: { name: 'nobody' },
      requestId: 'once',
    })
    await connection.close()
    await first.stop()
    expect(await readDevInfo(home)).toBeUndefined()
    const second = await openDevServers({ home })

    expect(second.temporal).toEqual({ ...first.temporal, pid: expect.any(Number) })
    expect(second.postgres.url).toBe(first.postgres.url)
    expect(await query(second.postgres.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    const again = await Connection.connect({ address: second.temporal.address })
    const description = await again.workflowService.describeWorkflowExecution({ namespace: 'default', execution })
    await again.close()
    expect(description.workflowExecutionInfo?.type?.name).toBe('none')
  })

  it('ends Temporal before PostgreSQL', async () => {
    const { temporal, postgres, stop } = await openDevServers({ home: await newHome() })
    const gone = ({ pid = 0 }: { pid?: number | undefined }): boolean => identify(pid) === undefined
    let over = false
    const stopping = stop().finally(() => (over = true))
    // PostgreSQL is looked at first: if it goes before Temporal, then it is gone while Temporal still lives.
    let databaseFirst = false
    for (; !over; await delay(1)) databaseFirst ||= gone(postgres) && !gone(temporal)
    await stopping
    expect([databaseFirst, gone(temporal), gone(postgres)]).toEqual([false, true, true])
  })

  it('does not wait for connected clients of the database', async () => {
    const home = await newHome()
    const { postgres, stop } = await openDevServers({ home })
    const asleep = expect(query(postgres.url, 'select pg_sleep(600)')).rejects.toThrow()
    await expect
      .poll(() => query(postgres.url, "select 1 from pg_stat_activity where wait_event = 'PgSleep'"))
      .toHaveLength(1)
    const began = Date.now()
    await stop()
    await asleep
    expect(Date.now() - began).toBeLessThan(9000)
    expect(await readFile(join(home, 'postgres.log'), 'utf8')).toContain('database system is shut down')
  })

  it('does not end servers that somebody else has started meanwhile', async () => {
    const home = await newHome()
    const first = await openDevServers({ home })
    await stopDevServers(home)
    await launch(home)
    await first.stop()
    expect(await readDevInfo(home)).toBeDefined()
  })
})

describe('a fresh start', () => {
  it('throws away what the launcher keeps in the folder, and nothing else', async () => {
    const home = await newHome()
    const first = await openDevServers({ home })
    await query(first.postgres.url, 'create table gone as select 1')
    await writeFile(join(home, 'notes.txt'), 'mine')
    await first.stop()
    const { postgres } = await openDevServers({ home, fresh: true })

    await expect(query(postgres.url, 'select * from gone')).rejects.toThrow('does not exist')
    expect(await readFile(join(home, 'notes.txt'), 'utf8')).toBe('mine')
  })

  it('is refused while a living process holds the servers', async () => {
    const home = await newHome()
    const { child } = await launch(home)
    await expect(openDevServers({ home, fresh: true })).rejects.toThrow(`process ${child.pid} uses the servers`)
    expect(await readDevInfo(home)).toBeDefined()
  })
})

describe('root', () => {
  it.runIf(isRoot)('gets a database also under a folder of mode 700, as another user', async () => {
    const home = await newHome(0o700)
    const { postgres, info, stop } = await openDevServers({ home })
    const dataFolder = info.postgres.dataFolder ?? ''

    expect(dataFolder.startsWith(dirname(home))).toBe(false)
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(await readFile(`/proc/${postgres.pid}/status`, 'utf8')).toContain(`Uid:\t${(await postgresUser())?.uid}`)
    expect(hasArguments(postgres.pid ?? 0, ['-D', dataFolder])).toBe(true)
    await query(postgres.url, 'create table kept as select 42 as answer')
    await stop()
    const again = await openDevServers({ home })
    expect(await query(again.postgres.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    await again.stop()
    await removeDevHome(home)
    expect(existsSync(dirname(dataFolder))).toBe(false)
  })
})

describe('servers of the user', () => {
  it('named by the environment are used, and none is started', async () => {
    const { temporal, postgres } = await openDevServers({ home: await newHome() })
    vi.stubEnv('TEMPORAL_ADDRESS', temporal.address)
    vi.stubEnv('STELLO_DATABASE_URL', postgres.url)
    const home = await newHome()
    const used = await openDevServers({ home })

    expect(used.temporal).toEqual({ address: temporal.address, namespace: 'default', source: 'TEMPORAL_ADDRESS' })
    expect(used.postgres).toEqual({ url: postgres.url })
    await used.stop()
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(existsSync(join(home, 'postgres'))).toBe(false)
  })

  it('that do not answer are an error that names the variable', async () => {
    vi.stubEnv('TEMPORAL_ADDRESS', '127.0.0.1:1')
    vi.stubEnv('STELLO_DATABASE_URL', 'postgresql://127.0.0.1:1/none')
    await expect(openDevServers({ home: await newHome() })).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: expect.stringContaining('127.0.0.1:1'),
      hint: expect.stringContaining('TEMPORAL_ADDRESS'),
    })
    vi.stubEnv('TEMPORAL_ADDRESS', '')
    await expect(openDevServers({ home: await newHome() })).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  })
})
