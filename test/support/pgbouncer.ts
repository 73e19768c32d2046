/** The PgBouncer of the distribution between a test and its PostgreSQL, in one of its modes. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { postgresUser } from '../../src/dev/postgres-server.ts'
import { quietPort } from './quiet-port.ts'

export interface PgBouncer {
  /** The URL of the same database, through PgBouncer. */
  readonly url: string
  close(): Promise<void>
}

export interface PgBouncerOptions {
  mode: 'session' | 'transaction' | 'statement'
  /** Accepts the `options` that a client states for its connection, and passes none of them on. Default true. */
  takesOptions?: boolean
  /** The most connections to PostgreSQL. Default 60. */
  poolSize?: number
}

export async function startPgBouncer(
  databaseUrl: string,
  { mode, takesOptions = true, poolSize = 60 }: PgBouncerOptions,
): Promise<PgBouncer> {
  const command = program()
  const { hostname, port, username, password } = new URL(databaseUrl)
  const [listenPort, runAs, folder] = [
    await quietPort(),
    await postgresUser(),
    await mkdtemp(join(tmpdir(), 'pgbouncer-')),
  ]
  await chmod(folder, 0o755)
  const file = join(folder, 'pgbouncer.ini')
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${port} user=${username} password='${password}'`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    `default_pool_size = ${poolSize}`,
    ...(takesOptions ? ['ignore_startup_parameters = options'] : []),
  ]
  await writeFile(file, settings.join('\n'))
  // It refuses to run as root.
  const child = spawn(command, [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(runAs && { uid: runAs.uid, gid: runAs.gid }),
  })
  const ended = once(child, 'close')
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('process up')) resolve()
    })
    void ended.then(() => reject(new Error(`PgBouncer did not start:\n${said}`)))
  })
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${listenPort}`
  return {
    url: url.href,
    async close() {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** If it is missing, root installs it, because CI is a fresh Debian. */
function program(): string {
  const found = find()
  if (found) return found
  if (process.getuid?.() !== 0) throw new Error('this test needs PgBouncer: sudo apt-get install pgbouncer')
  const apt = (...args: string[]): void => {
    // In that runlevel the package starts no server of its own.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
    // One after another, because another file may install it at the same moment.
    const command = ['-o', '-w', '300', join(tmpdir(), 'stello-apt.lock'), 'apt-get', '-qq', ...args]
    execFileSync('flock', command, { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: 600_000 })
  }
  apt('update')
  apt('install', '-y', '--no-install-recommends', 'pgbouncer')
  return find() ?? 'pgbouncer'
}

function find(): string | undefined {
  const folders = ['/usr/sbin', ...(process.env['PATH'] ?? '').split(delimiter)]
  return folders.map((folder) => join(folder, 'pgbouncer')).find(existsSync)
}
