/** The place where workers of sessions are killed: a provider and doors outside the workers. */
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { startFakeOpenAI, type FullReply, type ScriptFunction } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess, type WorkerProcess } from './crashing.ts'
import type { Gate } from './gate.ts'
import { startLedgerHolds, type LedgerHolds } from './ledger-holds.ts'
import { useStello, type Fixture, type OpenServers } from './session-fixture.ts'
import type { Witnesses } from './story.ts'
import type { WorkerSettings } from './worker-process.ts'

/** Its properties may be read only inside tests. */
interface Stage extends Witnesses {
  readonly agent: string
  readonly servers: Fixture['servers']
  /** Killed after the last test, if it still lives. */
  startWorker(settings?: Partial<WorkerSettings>, preloads?: string[]): Promise<WorkerProcess>
  killWorkers(): Promise<void>
  session(): Promise<SessionHandle>
}

interface StageOptions {
  openServers?: OpenServers
  script?: ScriptFunction
}

/** One stage for all tests of a file. */
export function useCrashStage(options: StageOptions = {}): Stage & { readonly holds: LedgerHolds } {
  const stello = useStello(options.openServers)
  const stage = {} as Stage & { holds: LedgerHolds; close(): Promise<void> }
  beforeAll(async () => {
    Object.assign(stage, await openStage(stello, options.script), {
      holds: await startLedgerHolds(stello.servers.databaseUrl),
    })
  })
  afterAll(async () => {
    await stage.close()
    await stage.holds.close()
  })
  return stage
}

/** A new stage for each test: it counts everything from zero, and its doors are shut. */
export function useFreshStage(options: StageOptions = {}): Stage & { readonly door: Gate } {
  const stello = useStello(options.openServers)
  const stage = {} as Stage & { door: Gate; close(): Promise<void> }
  beforeEach(async () => {
    const opened = await openStage(stello, options.script)
    Object.assign(stage, opened, { door: opened.doors.hold() })
  })
  afterEach(() => stage.close())
  return stage
}

async function openStage(
  { client, db, servers }: Fixture,
  script: ScriptFunction = answer,
): Promise<Stage & { close(): Promise<void> }> {
  const agent = `crash-${randomBytes(4).toString('hex')}`
  const [fake, doors] = await Promise.all([startFakeOpenAI({ script }), startDoors()])
  const workers: WorkerProcess[] = []
  const killWorkers = async (): Promise<void> => void (await Promise.all(workers.map((worker) => worker.kill())))
  return {
    client,
    db,
    servers,
    fake,
    doors,
    agent,
    async startWorker(settings, preloads) {
      const started = { agent, ...servers, modelUrl: fake.url, gateUrl: doors.url, ...settings }
      const worker = await startWorkerProcess(started, preloads)
      workers.push(worker)
      return worker
    },
    killWorkers,
    session: () => client.createSession({ agent, label: 'main' }),
    async close() {
      await killWorkers()
      await Promise.all([fake.close(), doors.close()])
    },
  }
}

/** A tag after the words of a message. It distinguishes the message from others that ask for the same. */
export const TAG: RegExp = /#\S+/

/**
 * A message names what to do, e.g. `look #1`. Each repetition gives the same answer: nothing is remembered, and the
 * tokens do not depend on the result of a tool.
 */
const answer: ScriptFunction = ({ messages }) => {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const text = messages[asked]?.content ?? ''
  const [word = ''] = text.split(' ')
  const results = messages.slice(asked).filter(({ role }) => role === 'tool').length
  return { usage: { inputTokens: 2, outputTokens: 1 }, ...answerTo(word, text, results) }
}

function answerTo(word: string, text: string, results: number): FullReply {
  const tag = TAG.exec(text)?.[0] ?? ''
  const call = (name: string, args: object = { tag }): FullReply => ({ toolCalls: [{ name, arguments: args }] })
  if (word === 'rounds') return call('look')
  if (word === 'hang' && results < 3) return call('hang')
  if (results > 0) return { content: `done after ${results}` }
  switch (word) {
    case 'look':
    case 'book':
    case 'pay':
    case 'wire':
      return call(word)
    case 'both':
      return { toolCalls: ['look', 'pay'].map((name) => ({ name, arguments: { tag } })) }
    case 'fork':
      return call('stello_create_session', { label: 'fork', profile: 'told' })
    case 'task':
      return call('new_task', { label: 'task', message: `look ${tag}` })
    case 'block':
    case 'scan':
    case 'seal':
      return call(word, { file: tag.slice(1) })
    default:
      return { content: `answer to ${text}` }
  }
}
