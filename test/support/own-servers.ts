/**
 * A Temporal and a PostgreSQL for one test alone. It may kill them, freeze them and start them again, on the same files
 * and the same ports. They are never the shared ones.
 */
import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { openDevServers, removeDevHome, stopDevServers, type DevServers } from '../../src/dev/dev-servers.ts'
import { isAlive, processesIn, until, type ProcessId } from '../../src/dev/processes.ts'
import { memoryFolder } from './memory-folder.ts'
import { quietPort } from './quiet-port.ts'
import { asSuperuser } from './superuser.ts'

export type Server = 'temporal' | 'postgres'

export interface OwnServers {
  readonly temporalAddress: string
  readonly databaseUrl: string
  /** Sends SIGKILL to all of them at once, and to every process of PostgreSQL. Resolves when they are gone. */
  kill(...servers: Server[]): Promise<void>
  /** Sends SIGKILL to one backend of PostgreSQL. Resolves when all its processes have been replaced and answer. */
  crash(): Promise<void>
  /** Starts the dead ones. Resolves when all answer. */
  start(): Promise<void>
  /** Kills PostgreSQL and starts it again as a standby, which only reads. Resolves when it answers. */
  standBy(): Promise<void>
  /** Makes the standby take writes again. */
  promote(): Promise<void>
  /** Sends SIGSTOP: connections stay, and nothing is answered. */
  freeze(server: Server): void
  thaw(server: Server): void
  close(): Promise<void>
}

export async function startOwnServers(): Promise<OwnServers> {
  const folder = await realpath(await mkdtemp(join(memoryFolder(), 'stello-own-')))
  // If the test is root, PostgreSQL runs as another user, and that user must be able to enter.
  await chmod(folder, 0o755)
  const home = join(folder, '.stello')
  const [temporalPort, uiPort, postgresPort] = [await quietPort(), await quietPort(), await quietPort()]
  const open = (): Promise<DevServers> => openDevServers({ home, temporalPort, uiPort, postgresPort })
  let opened = await open()

  const processesOf = (server: Server): ProcessId[] => {
    const { process, ...rest } = opened.info[server]
    const children = 'dataFolder' in rest ? processesIn(rest.dataFolder ?? '') : []
    return process ? [process, ...children] : children
  }
  const signal = (servers: Server[], sent: NodeJS.Signals): void => {
    for (const { pid } of servers.flatMap(processesOf).filter(isAlive)) send(pid, sent)
  }
  const kill = async (...servers: Server[]): Promise<void> => {
    const gone = (): boolean => !servers.flatMap(processesOf).some(isAlive)
    // A child that PostgreSQL forks meanwhile is found in the next round.
    await until(() => {
      signal(servers, 'SIGKILL')
      return gone()
    }, 30_000)
    if (!gone()) throw new Error(`${servers.join(' and ')} did not die`)
  }
  return {
    temporalAddress: opened.temporal.address,
    databaseUrl: await asSuperuser(home, opened.postgres.url),
    kill,
    async standBy() {
      await kill('postgres')
      await writeFile(join(opened.info.postgres.dataFolder ?? '', 'standby.signal'), '')
      opened = await open()
    },
    async promote() {
      const client = new pg.Client({ connectionString: await asSuperuser(home, opened.postgres.url) })
      await client.connect()
      const { rows } = await client.query<{ promoted: boolean }>('select pg_promote() as promoted')
      await client.end()
      if (!rows[0]?.promoted) throw new Error('the standby was not promoted')
    },
    async crash() {
      const [postmaster, ...all] = processesOf('postgres')
      const before = all.filter(({ pid }) => pid !== postmaster?.pid)
      const client = new pg.Client({ connectionString: opened.postgres.url })
      client.on('error', () => undefined)
      await client.connect()
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      send(rows[0]?.pid ?? 0, 'SIGKILL')
      await until(() => !before.some(isAlive), 30_000)
      await open()
    },
    async start() {
      opened = await open()
    },
    freeze: (server) => signal([server], 'SIGSTOP'),
    thaw: (server) => signal([server], 'SIGCONT'),
    async close() {
      await stopDevServers(home)
      await removeDevHome(home)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
