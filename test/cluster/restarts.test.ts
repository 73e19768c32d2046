/** Promises 2 and 3 when servers of production die: SIGKILL in the middle of a turn, then a new start on the same data. */
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { replyBy, startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess, type Doors, type WorkerProcess } from '../support/crashing.ts'
import type { Gate } from '../support/gate.ts'
import { useStello } from '../support/session-fixture.ts'
import { killPostgresServer, startPostgresServer } from './postgres.ts'
import { startTemporalServer, stopTemporalServer } from './temporal.ts'

const stello = useStello()
const temporal = inject('clusterTemporal')
const postgres = inject('clusterPostgres')
let doors: Doors
let held: Gate
let fake: FakeOpenAI
let agent: string
let workers: WorkerProcess[]

beforeEach(async () => {
  workers = []
  agent = `restart-${randomBytes(4).toString('hex')}`
  doors = await startDoors()
  held = doors.hold()
  fake = await startFakeOpenAI({
    script: replyBy([
      ['both', { toolCalls: [{ name: 'look' }, { name: 'pay' }] }],
      [() => true, 'done'],
    ]),
  })
})
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.kill()))
  await Promise.all([doors.close(), fake.close()])
})

async function startWorkers(): Promise<void> {
  const settings = { agent, ...stello.servers, modelUrl: fake.url, gateUrl: doors.url }
  workers.push(...(await Promise.all([startWorkerProcess(settings), startWorkerProcess(settings)])))
}

async function killTemporal(): Promise<void> {
  await stopTemporalServer(temporal, 'SIGKILL')
}

it('a turn ends as if nothing had been when Temporal is killed in its middle', async () => {
  await startWorkers()
  const session = await stello.client.createSession({ agent })
  const turn = await session.send('both')
  await doors.knocked(2)
  await killTemporal()
  held.open()
  await startTemporalServer(temporal)
  expect((await turn.result()).text).toBe('done')
  expect(doors.knocks).toHaveLength(2)
  expect(fake.requests).toHaveLength(2)
})

it('a turn ends as if nothing had been when PostgreSQL, of the store and of Temporal, is killed in its middle', async () => {
  await startWorkers()
  const session = await stello.client.createSession({ agent })
  const turn = await session.send('both')
  await doors.knocked(2)
  await killPostgresServer(postgres)
  held.open()
  await startPostgresServer(postgres)
  expect((await turn.result()).text).toBe('done')
  expect(doors.knocks).toHaveLength(2)
  expect(fake.requests).toHaveLength(2)
})

it('after a machine has gone down with everything on it, the turn ends and nothing with an effect runs twice', async () => {
  await startWorkers()
  const session = await stello.client.createSession({ agent })
  const turn = await session.send('both', { messageId: 'm' })
  const later = await session.send('more')
  await doors.knocked(2)
  await Promise.all([...workers.map((worker) => worker.kill()), killTemporal(), killPostgresServer(postgres)])
  await startPostgresServer(postgres)
  await startTemporalServer(temporal)
  await startWorkers()
  held.open()
  expect((await turn.result()).text).toBe('done')
  expect((await later.result()).text).toBe('done')
  const results = (await session.transcript()).filter(({ role }) => role === 'tool')
  expect(results.map(({ content }) => content.split(':')[0])).toEqual(['look done', 'TOOL_OUTCOME_UNKNOWN'])
  expect(doors.knocks.filter(({ tool }) => tool === 'pay')).toHaveLength(1)
  expect(fake.requests).toHaveLength(3)
})
