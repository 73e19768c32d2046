/**
 * Other users of the machine: their files and processes are not taken for our servers, and they get no access to ours.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { findServers } from '../../src/client/connect.ts'
import { readDevInfo, type DevInfo } from '../../src/dev/dev-info.ts'
import { openDevServers, removeDevHome, stopDevServers } from '../../src/dev/dev-servers.ts'
import { diagnose } from '../../src/doctor/diagnose.ts'
import { findProcesses, identify, ownerOf } from '../../src/dev/processes.ts'
import { postgresUser } from '../../src/dev/postgres-server.ts'
import { asSuperuser } from '../support/superuser.ts'
import { newHome, query } from './homes.ts'
import { stranger } from './stranger.ts'

afterEach(() => vi.unstubAllEnvs())

const PLANTED = {
  temporal: { address: '127.0.0.1:7233', namespace: 'default', source: 'planted', version: '1' },
  postgres: { url: 'postgresql://stello:password@127.0.0.1:5432/stello', version: '18' },
}

async function plant(home: string, { temporal = {}, postgres = {} } = {}): Promise<string> {
  const info: Partial<DevInfo> = {
    temporal: { ...PLANTED.temporal, ...temporal },
    postgres: { ...PLANTED.postgres, ...postgres },
  }
  await mkdir(home, { mode: 0o700 })
  await writeFile(join(home, 'dev.json'), JSON.stringify(info), { mode: 0o600 })
  return join(home, 'dev.json')
}

/** `<new folder>/.stello`. No server will ever run in it. */
async function noHome(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'stello-trust-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  return join(folder, '.stello')
}

describe('a folder', () => {
  const refuses = async (home: string, says: string): Promise<void> => {
    const refused = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(says) as string }
    for (const use of [() => openDevServers({ home }), () => stopDevServers(home), () => removeDevHome(home)]) {
      await expect(use()).rejects.toMatchObject(refused)
    }
    expect(findProcesses(['--db-filename', join(home, 'temporal.db')])).toEqual([])
  }

  it('of another user is refused', async () => {
    const home = await noHome()
    await plant(home)
    await chown(home, stranger().uid, stranger().gid)
    await refuses(home, `belongs to the user with id ${stranger().uid}, not to you`)
  })

  it('that is a link of another user is refused, and the place that it leads to is not touched', async () => {
    const [home, ours] = [await noHome(), await noHome()]
    await mkdir(ours, { mode: 0o755 })
    await symlink(ours, home)
    await lchown(home, stranger().uid, stranger().gid)
    await refuses(home, 'belongs to the user')
    expect(await readdir(ours)).toEqual([])
  })

  it.each(['777', '775'])(
    'of mode %s is refused, because others could put servers of their own in it',
    async (mode) => {
      const home = await noHome()
      await mkdir(home)
      await chmod(home, Number.parseInt(mode, 8))
      await refuses(home, 'others may write in')
    },
  )

  it('that holds a link in the place of the data is refused, and no owner changes where the link leads', async () => {
    const [home, outside] = [await noHome(), await noHome()]
    await mkdir(home, { mode: 0o711 })
    await mkdir(outside, { mode: 0o755 })
    await symlink(outside, join(home, 'postgres'))
    await expect(openDevServers({ home })).rejects.toThrow('ELOOP')
    const { uid, mode } = await stat(outside)
    expect([uid, (mode & 0o777).toString(8)]).toEqual([process.getuid?.(), '755'])
    expect(await readdir(outside)).toEqual([])
  })
})

describe('a dev.json', () => {
  it.each([
    ['another user’s', async (path: string) => chown(path, stranger().uid, stranger().gid)],
    ['writable for others', async (path: string) => chmod(path, 0o666)],
  ])('that is %s is refused, and the doctor says so', async (_what, change) => {
    const home = await noHome()
    await change(await plant(home))
    const refused = expect.stringContaining('may have been written by another user') as string
    for (const use of [() => readDevInfo(home), () => findServers({ home })]) {
      await expect(use()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: refused })
    }
    expect(await diagnose(home)).toContainEqual(
      expect.objectContaining({ name: 'dev.json', ok: false, detail: refused }),
    )
  })

  it('that is a link does not count', async () => {
    const [home, elsewhere] = [await noHome(), await noHome()]
    await mkdir(home, { mode: 0o700 })
    await symlink(await plant(elsewhere), join(home, 'dev.json'))
    expect(await readDevInfo(home)).toBeUndefined()
    await expect(findServers({ home })).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' })
  })

  it.each([
    { temporal: { address: 'temporal.example:7233' } },
    { temporal: { address: '10.0.0.1:7233' } },
    { temporal: { address: '127.0.0.1.example:7233' } },
    { postgres: { url: 'postgresql://stello:password@db.example/stello' } },
    { postgres: { url: 'postgresql://stello:password@127.0.0.1/stello?host=db.example' } },
    { postgres: { url: 'postgresql://stello:password@127.0.0.1/stello?hostaddr=10.0.0.1' } },
  ])('that came with a project of somebody else and names another machine is refused: %j', async (planted) => {
    const home = await noHome()
    await plant(home, planted)
    for (const use of [() => readDevInfo(home), () => findServers({ home })]) {
      await expect(use()).rejects.toThrow('dev.json names a server that is not on this machine')
    }
    vi.stubEnv('TEMPORAL_ADDRESS', 'mine.example:7233')
    vi.stubEnv('STELLO_DATABASE_URL', 'postgresql://mine.example/stello')
    expect(await findServers({ home })).toMatchObject({ temporalAddress: 'mine.example:7233' })
  })
})

it('a process of another user that looks like our Temporal is neither adopted nor ended', async () => {
  const home = await newHome()
  const args = ['-e', 'setInterval(() => {}, 60_000)', '--', '--db-filename', join(home, 'temporal.db'), '--port', '1']
  const impostor = spawn('/usr/bin/env', ['node', ...args], { ...stranger(), cwd: '/', stdio: 'ignore' })
  try {
    await once(impostor, 'spawn')
    await expect.poll(() => ownerOf(impostor.pid ?? 0)).toBe(stranger().uid)
    const { temporal, stop } = await openDevServers({ home })
    expect(temporal.pid).not.toBe(impostor.pid)
    expect(ownerOf(temporal.pid ?? 0)).toBe(process.getuid?.())
    await stop()
    expect(identify(impostor.pid ?? 0)).toBeDefined()
  } finally {
    impostor.kill('SIGKILL')
  }
})

describe('the servers', () => {
  it('leave no file that others may read, and listen on known ports of this machine only', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-not-for-servers')
    const home = await newHome()
    const { info, temporal, postgres } = await openDevServers({ home })
    const files = (await readdir(home)).filter((name) => name !== 'postgres')
    expect(files).toContain('temporal.db')
    const open = await Promise.all(files.map(async (name) => ((await stat(join(home, name))).mode & 0o077 ? name : [])))
    expect(open.flat()).toEqual([])

    const { port, uiPort, httpPort } = info.temporal
    expect((await fetch(`http://127.0.0.1:${httpPort}/api/v1/system-info`)).status).toBe(200)
    expect(new Set([port, uiPort, httpPort]).size).toBe(3)
    for (const { pid = 0 } of [temporal, postgres]) {
      const addresses = await listeningOf(pid)
      expect(addresses.length).toBeGreaterThan(0)
      expect(addresses.filter((address) => address !== '0100007F')).toEqual([])
      expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('sk-not-for-servers')
    }
  })

  it('give the store a role that is no superuser and owns its database', async () => {
    const { postgres } = await openDevServers({ home: await newHome() })
    const rights = `select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls from pg_roles where rolname = user`
    expect(Object.values((await query(postgres.url, rights))[0] ?? {})).toEqual([false, false, false, false, false])
    await expect(query(postgres.url, "copy (select 1) to program 'true'")).rejects.toThrow('permission denied')
    await expect(query(postgres.url, "select pg_read_file('postgresql.conf')")).rejects.toThrow('permission denied')
    expect(await query(postgres.url, 'create table own as select 1 as one')).toEqual([])
  })

  it('give up objects that an earlier version created as superuser', async () => {
    const home = await newHome()
    const first = await openDevServers({ home })
    const superuser = await asSuperuser(home, first.postgres.url)
    await query(superuser, 'alter database stello owner to postgres')
    await query(
      superuser,
      `create table kept (id int generated always as identity, n serial, answer int); insert into kept (answer) values (42);
       create function double(int) returns int language sql as 'select $1 * 2'; create sequence loose`,
    )
    await first.stop()
    const { postgres } = await openDevServers({ home })
    expect(await query(postgres.url, 'select double(answer) as answer from kept')).toEqual([{ answer: 84 }])
    for (const change of [
      'alter table kept add b int',
      'drop function double',
      'drop sequence loose',
      'create schema s',
    ]) {
      expect(await query(postgres.url, change)).toEqual([])
    }
  })

  it('as root: their user owns the data, and no folder that root works in', async () => {
    stranger()
    const home = await newHome()
    const { info } = await openDevServers({ home })
    const { uid } = (await postgresUser()) ?? {}
    const dataFolder = info.postgres.dataFolder ?? ''
    const owners = [home, join(dataFolder, '..'), dataFolder].map(async (path) => (await stat(path)).uid)
    expect(await Promise.all(owners)).toEqual([0, 0, uid])
  })
})

/** The local addresses of the TCP sockets on which a process listens, as the system writes them. */
async function listeningOf(pid: number): Promise<string[]> {
  const files = await readdir(`/proc/${pid}/fd`)
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')))
  const sockets = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
  const lines = await Promise.all(
    ['tcp', 'tcp6'].map((table) => readFile(`/proc/net/${table}`, 'utf8').catch(() => '')),
  )
  return lines
    .join('\n')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === '0A' && sockets.has(fields[9] ?? ''))
    .map((fields) => fields[1]?.split(':')[0] ?? '')
}
