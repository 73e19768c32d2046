/**
 * The servers on which a run measures: Temporal on a file and PostgreSQL with fsync, started as `stello dev` starts
 * them. They are stopped afterwards, and their data is deleted.
 */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import type { StelloAgent } from '../src/agent/agent.ts'
import { connectStello, type StelloClient } from '../src/client/index.ts'
import { openDevServers, removeDevHome } from '../src/dev/dev-servers.ts'
import { startWorker, type StelloWorker, type StelloWorkerOptions } from '../src/worker.ts'

export interface World {
  readonly folder: string
  readonly temporalAddress: string
  readonly databaseUrl: string
  readonly stello: StelloClient
  /** Temporal alone, for the floor and for histories. */
  readonly temporal: Client
  say(line: string): void
  work(agent: StelloAgent, options?: Partial<StelloWorkerOptions>): Promise<StelloWorker>
  /** If it is called again, it waits for the same close. */
  close(): Promise<void>
}

const quiet = { info: () => undefined, warn: () => undefined }

export async function openWorld(say: (line: string) => void): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'stello-bench-'))
  await chmod(folder, 0o755)
  const home = join(folder, '.stello')
  const servers = await openDevServers({ home, onProgress: say })
  const temporalAddress = servers.temporal.address
  const databaseUrl = servers.postgres.url
  const connection = await Connection.connect({ address: temporalAddress })
  const stello = await connectStello({ temporalAddress, databaseUrl })
  const close = async (): Promise<void> => {
    await stello.close()
    await connection.close()
    await servers.stop({ force: true })
    await removeDevHome(home)
    await rm(folder, { recursive: true, force: true })
  }
  let closed: Promise<void> | undefined
  return {
    folder,
    temporalAddress,
    databaseUrl,
    stello,
    temporal: new Client({ connection }),
    say,
    work: (agent, options) => startWorker({ agent, temporalAddress, databaseUrl, log: quiet, ...options }),
    close: () => (closed ??= close()),
  }
}

/** A name that nobody else uses, for task queues and workflows. */
export function newName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`
}
