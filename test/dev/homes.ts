/** Folders for development servers, and launchers in processes of their own. All are ended after each test. */
import { fork, type ChildProcess } from 'node:child_process'
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterEach } from 'vitest'
import { removeDevHome, stopDevServers } from '../../src/dev/dev-servers.ts'
import { endProcess, identify } from '../../src/dev/processes.ts'

export interface Launched {
  child: ChildProcess
  temporalPid: number
  postgresPid: number
  address: string
  url: string
  joined: boolean
}

const homes: string[] = []
const launchers: ChildProcess[] = []

afterEach(async () => {
  for (const child of launchers.splice(0)) await kill(child)
  for (const home of homes.splice(0)) {
    await stopDevServers(join(home, '.stello'))
    await removeDevHome(join(home, '.stello'))
    await rm(home, { recursive: true, force: true })
  }
})

/** `<new folder>/.stello`, which does not exist yet. `mode` is the mode of the new folder. */
export async function newHome(mode = 0o755): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'stello-dev-')))
  homes.push(folder)
  await chmod(folder, mode)
  return join(folder, '.stello')
}

/** Opens the servers in another process, which then stays alive. */
export async function launch(home: string): Promise<Launched> {
  const script = fileURLToPath(new URL('./launcher.ts', import.meta.url))
  const child = fork(script, [home], { execArgv: ['--import', 'tsx'] })
  launchers.push(child)
  const answer = await new Promise<Omit<Launched, 'child'> & { error?: string }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Launched))
    child.once('exit', (code) => reject(new Error(`the launcher exited with code ${code}`)))
  })
  if (answer.error) throw new Error(answer.error)
  return { ...answer, child }
}

/** Sends SIGKILL, and waits until the process is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  const id = identify(child.pid ?? 0)
  if (id) await endProcess(id, 'SIGKILL')
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
