/** A worker process under test: an agent whose model the test plays, and the environment in which commands find it. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { StelloClient } from '../../src/client/index.ts'
import type { Database } from '../../src/store/database/database.ts'
import { replyBy, startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'
import { builtModule } from '../support/built.ts'
import { useStello } from '../support/session-fixture.ts'
import { closeTerminals } from '../support/terminal.ts'
import { endCommands, newFolder, start, type Running } from './command.ts'

export const AGENT: string = builtModule('test/cli/agent.ts')

export interface Served {
  readonly agent: string
  readonly env: Record<string, string>
  readonly model: FakeOpenAI
  readonly client: StelloClient
  readonly db: Database
  /** Starts another worker process. Resolves when it serves. */
  startWorker(...options: string[]): Promise<Running>
}

/** A database, a model and an agent name for this file alone. @param more of the environment */
export function useServed(more: Record<string, string> = {}): Served {
  const fixture = useStello()
  const agent = `cli-${randomBytes(4).toString('hex')}`
  let opened: { env: Record<string, string>; model: FakeOpenAI } | undefined
  const use = (): NonNullable<typeof opened> => {
    if (!opened) throw new Error('the servers can be used only inside tests')
    return opened
  }

  beforeAll(async () => {
    const script = replyBy([
      [/weather/, { toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }],
      [/^pay/, { toolCalls: [{ name: 'pay', arguments: { amount: 3 } }] }],
      [/^delegate/, { toolCalls: [{ name: 'new_task', arguments: { label: 'below', message: 'deep' } }] }],
      [{ tool: 'weather' }, 'Take an umbrella.'],
      [() => true, ({ messages }) => `You said: ${messages.at(-1)?.content}`],
    ])
    const model = await startFakeOpenAI({ script, apiKey: 'right' })
    const { temporalAddress, databaseUrl } = fixture.servers
    opened = {
      model,
      env: {
        TEMPORAL_ADDRESS: temporalAddress,
        STELLO_DATABASE_URL: databaseUrl,
        STELLO_HOME: join(await newFolder(), '.stello'),
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: 'right',
        TEST_AGENT: agent,
        ...more,
      },
    }
  })
  // Before the database is dropped: a worker would look for it without end.
  afterAll(async () => {
    await closeTerminals()
    await endCommands()
    await opened?.model.close()
  })

  return {
    agent,
    get env() {
      return use().env
    },
    get model() {
      return use().model
    },
    get client() {
      return fixture.client
    },
    get db() {
      return fixture.db
    },
    async startWorker(...options) {
      const worker = start(['worker', AGENT, '--json', ...options], { env: use().env })
      await worker.line()
      return worker
    },
  }
}
