/**
 * What a test needs to run sessions: a database of its own for the file, workers in this process, a client. Everything
 * that was opened is closed after each test.
 */
import { randomBytes } from 'node:crypto'
import { IllegalStateError } from '@temporalio/common'
import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, inject } from 'vitest'
import { createStelloAgent, type AgentDefinition, type StelloAgent } from '../../src/agent/agent.ts'
import {
  connectStello,
  type DurableEvent,
  type SessionHandle,
  type StelloClient,
  type StelloEvent,
} from '../../src/client/index.ts'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import { migrate } from '../../src/store/schema/migrate.ts'
import { takeBuiltBundle } from './built.ts'
import { sayWhere } from './say-where.ts'
import { startWorker, type StelloWorker, type StelloWorkerOptions } from '../../src/worker.ts'

takeBuiltBundle()

export interface TestServers {
  temporalAddress: string
  databaseUrl: string
  namespace?: string
}

export type OpenedServers = Omit<TestServers, 'databaseUrl'> & { databaseUrl?: string; close(): Promise<void> }

/** Servers for one test file, which configures or kills them. PostgreSQL stays the shared one unless it is given. */
export type OpenServers = () => Promise<OpenedServers>

export interface Fixture {
  readonly client: StelloClient
  readonly db: Database
  readonly servers: TestServers
  /** The warnings of workers and agents since the test began. If several workers serve an agent, see `together`. */
  readonly warnings: readonly string[]
  serve(agent: StelloAgent, options?: Partial<StelloWorkerOptions>): Promise<StelloWorker>
  /** A worker for an agent. Its name, which is its task queue, is new unless it is given. */
  work(agent: TestAgent, options?: Partial<StelloWorkerOptions>): Promise<StelloWorker>
  /** A worker and a session of it. */
  session(agent: TestAgent, options?: Partial<StelloWorkerOptions>): Promise<SessionHandle>
}

export type TestAgent = Omit<AgentDefinition, 'name'> & { name?: string }

export function useStello(openServers?: OpenServers): Fixture {
  const database = `test_${randomBytes(6).toString('hex')}`
  let opened: { client: StelloClient; db: Database; servers: TestServers; close(): Promise<void> } | undefined
  let workers: StelloWorker[] = []
  let warnings: string[][][] = []
  const use = (): NonNullable<typeof opened> => {
    if (!opened) throw new Error('the servers can be used only inside tests')
    return opened
  }

  beforeAll(async () => {
    const opening: OpenedServers = openServers
      ? await openServers()
      : { temporalAddress: inject('temporalAddress'), close: async () => undefined }
    const { close, databaseUrl = inject('databaseUrl'), ...temporal } = opening
    await execute(databaseUrl, `create database ${database}`)
    const url = new URL(databaseUrl)
    url.pathname = `/${database}`
    const servers: TestServers = { ...temporal, databaseUrl: url.href }
    const db = openDatabase(url.href)
    await migrate(db)
    opened = {
      client: await connectStello(servers),
      db,
      servers,
      async close() {
        await execute(databaseUrl, `drop database if exists ${database} with (force)`)
        await close()
      },
    }
  })
  afterEach(async ({ task }) => {
    const [failure] = task.result?.errors ?? []
    if (failure && opened) {
      const { db, client } = opened
      const where = await sayWhere(db, client.temporal, warnings.flatMap(together))
      failure.message += `\n${where}`
      if (failure.stack) failure.stack += `\n${where}`
    }
    await Promise.all(workers.splice(0).map((worker) => worker.stop()))
    warnings = []
  })
  afterAll(async () => {
    await opened?.client.close()
    await opened?.db.close()
    await opened?.close()
  })

  const serve: Fixture['serve'] = async (agent, options) => {
    // A worker that serves metrics installs the runtime itself.
    if (options?.metricsPort === undefined) quietRuntime()
    const told: string[][] = Array.from({ length: inject('workersPerAgent') ?? 1 }, () => [])
    warnings.push(told)
    const started = await Promise.all(
      told.map((lines) => {
        const log = { info: () => undefined, warn: (message: string) => void lines.push(message) }
        return startWorker({ agent, ...use().servers, log, shutdownGraceMs: 0, ...options })
      }),
    )
    const all: StelloWorker = {
      taskQueue: agent.name,
      stopped: Promise.all(started.map(({ stopped }) => stopped)).then(() => undefined),
      stop: async () => void (await Promise.all(started.map((worker) => worker.stop()))),
    }
    workers.push(all)
    return all
  }
  const work: Fixture['work'] = (agent, options) =>
    serve(createStelloAgent({ name: `test-${randomBytes(4).toString('hex')}`, ...agent }), options)
  return {
    get client() {
      return use().client
    },
    get db() {
      return use().db
    },
    get servers() {
      return use().servers
    },
    get warnings() {
      return warnings.flatMap(together)
    },
    serve,
    work,
    async session(agent, options) {
      const { taskQueue } = await work(agent, options)
      return use().client.createSession({ agent: taskQueue, label: 'main' })
    },
  }
}

/**
 * A warning that every worker of an agent gives is listed once. A warning that one worker repeats is listed as often.
 */
function together(workers: string[][]): string[] {
  const all: string[] = []
  for (const lines of workers) {
    const known = [...all]
    for (const line of lines) {
      const at = known.indexOf(line)
      if (at < 0) all.push(line)
      else known.splice(at, 1)
    }
  }
  return all
}

/**
 * Failed attempts are part of many tests, so their log is off. The runtime ends with its last worker, so this is done
 * before each test.
 */
export function quietRuntime(): void {
  try {
    const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' })
    Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter } } })
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error
  }
}

async function execute(databaseUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Sends a message and waits for its answer. */
export async function ask(session: SessionHandle, text: string): Promise<string> {
  return (await (await session.send(text)).result()).text
}

/** The events of a session up to the first that fits. With `tree`, the events of the sessions below it too. */
export async function eventsUntil(
  session: SessionHandle,
  fits: (event: StelloEvent) => boolean,
  options: { tree?: boolean; live?: boolean; from?: number | string } = {},
): Promise<StelloEvent[]> {
  const seen: StelloEvent[] = []
  for await (const event of session.watch({ live: false, ...options })) {
    seen.push(event)
    if (fits(event)) return seen
  }
  throw new Error(`the session closed first; seen: ${seen.map(({ type }) => type).join(', ')}`)
}

/** Waits for an event of a type, from the beginning of the session. */
export async function eventOf<Type extends DurableEvent['type']>(
  session: SessionHandle,
  type: Type,
): Promise<Extract<StelloEvent, { type: Type; offset: number }>> {
  const events = await eventsUntil(session, (event) => event.type === type)
  return events.at(-1) as Extract<StelloEvent, { type: Type; offset: number }>
}
