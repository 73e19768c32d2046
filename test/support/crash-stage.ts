/** What the crash tests of a file share: a provider and doors outside the workers, and workers that can be killed. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { startFakeOpenAI, type FakeOpenAI, type FullReply, type ScriptFunction } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess, type Doors, type WorkerProcess } from './crashing.ts'
import { startLedgerHolds, type LedgerHolds } from './ledger-holds.ts'
import { useStello, type OpenServers } from './session-fixture.ts'
import type { Witnesses } from './story.ts'
import type { WorkerSettings } from './worker-process.ts'

export interface Stage extends Witnesses {
  readonly holds: LedgerHolds
  readonly servers: { temporalAddress: string; databaseUrl: string }
  /** Killed behind the last test of the file, if it lives then. */
  startWorker(settings?: Partial<WorkerSettings>): Promise<WorkerProcess>
  session(): Promise<SessionHandle>
}

export function useCrashStage(openServers?: OpenServers): Stage {
  const stello = useStello(openServers)
  const agent = `crash-${randomBytes(4).toString('hex')}`
  const workers: WorkerProcess[] = []
  let opened: { fake: FakeOpenAI; doors: Doors; holds: LedgerHolds } | undefined
  const use = (): NonNullable<typeof opened> => {
    if (!opened) throw new Error('the stage can be used only inside tests')
    return opened
  }

  beforeAll(async () => {
    const [fake, doors, holds] = await Promise.all([
      startFakeOpenAI({ script: answer }),
      startDoors(),
      startLedgerHolds(stello.servers.databaseUrl),
    ])
    opened = { fake, doors, holds }
  })
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()))
    await Promise.all([opened?.fake.close(), opened?.doors.close(), opened?.holds.close()])
  })

  return {
    get client() {
      return stello.client
    },
    get db() {
      return stello.db
    },
    get servers() {
      return stello.servers
    },
    get fake() {
      return use().fake
    },
    get doors() {
      return use().doors
    },
    get holds() {
      return use().holds
    },
    async startWorker(settings = {}) {
      const worker = await startWorkerProcess({
        agent,
        ...stello.servers,
        modelUrl: use().fake.url,
        gateUrl: use().doors.url,
        ...settings,
      })
      workers.push(worker)
      return worker
    },
    session: () => stello.client.createSession({ agent, label: 'main' }),
  }
}

/** Behind what a message asks for: tells it from others that ask for the same. */
export const TAG: RegExp = /#\S+/

/**
 * A message names what to do, e.g. `look #1`. The same in every repetition: nothing is remembered, and the tokens do not
 * depend on what a tool said.
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
      return call(word)
    case 'both':
      return { toolCalls: ['look', 'pay'].map((name) => ({ name, arguments: { tag } })) }
    case 'fork':
      return call('stello_create_session', { label: 'fork', profile: 'told' })
    case 'task':
      return call('new_task', { label: 'task', message: `look ${tag}` })
    case 'block':
      return call('block', { file: tag.slice(1) })
    default:
      return { content: `answer to ${text}` }
  }
}
