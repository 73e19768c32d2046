/**
 * SIGTERM to a real worker process, as at each deploy: what runs is finished or handed over. No attempt counts as
 * failed, nothing waits for a time-out, and no effect happens twice.
 */
import { randomBytes } from 'node:crypto'
import { temporal } from '@temporalio/proto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess, type Doors, type WorkerProcess } from '../support/crashing.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()
let doors: Doors
let fake: FakeOpenAI
let agent: string
let workers: WorkerProcess[]

beforeEach(async () => {
  workers = []
  agent = `stop-${randomBytes(4).toString('hex')}`
  doors = await startDoors()
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

async function startOne(shutdownGraceMs = 60_000): Promise<WorkerProcess> {
  const settings = { agent, ...stello.servers, modelUrl: fake.url, gateUrl: doors.url, shutdownGraceMs }
  const worker = await startWorkerProcess(settings)
  workers.push(worker)
  return worker
}

/** Failed attempts of all steps, as the ledger counts them. */
async function failures({ id }: SessionHandle): Promise<number> {
  const { rows } = await stello.db.pool.query<{ sum: number }>(
    'select sum(failures)::int as sum from steps where session_id = $1',
    [id],
  )
  return rows[0]?.sum ?? -1
}

/** Why Temporal repeated attempts. */
async function repeated({ id }: SessionHandle): Promise<string[]> {
  const { events } = await stello.client.temporal.workflow.getHandle(id).fetchHistory()
  const { EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT } = temporal.api.enums.v1.EventType
  expect((events ?? []).map(({ eventType }) => eventType)).not.toContain(EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT)
  return (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) =>
    started && (started.attempt ?? 1) > 1 ? [started.lastFailure?.message ?? ''] : [],
  )
}

const results = async (session: SessionHandle): Promise<string[]> =>
  (await session.transcript()).filter(({ role }) => role === 'tool').map(({ content }) => content.split(':')[0] ?? '')

describe('a worker that gets SIGTERM', () => {
  it('lets tools end within the grace time, and another does the rest', async () => {
    const first = await startOne()
    const session = await stello.client.createSession({ agent })
    const turn = await session.send('both')
    await doors.knocked(2)
    await first.terminate()
    await startOne()
    doors.open()
    expect((await turn.result()).text).toBe('done')
    expect(await first.ended).toEqual({ code: 0, signal: null })
    expect(await results(session)).toEqual(['look done', 'pay done'])
    expect(doors.knocks).toHaveLength(2)
    expect(fake.requests).toHaveLength(2)
    expect(await failures(session)).toBe(0)
    expect(await repeated(session)).toEqual([])
  })

  it('hands over what outlasts it: a pure tool runs again, one with an effect is unknown, neither has failed', async () => {
    const first = await startOne(0)
    const session = await stello.client.createSession({ agent })
    const turn = await session.send('both')
    await doors.knocked(2)
    await first.terminate()
    expect(await first.ended).toEqual({ code: 0, signal: null })
    const second = await startOne()
    await doors.knocked(3)
    doors.open()
    expect((await turn.result()).text).toBe('done')
    expect(await results(session)).toEqual(['look done', 'TOOL_OUTCOME_UNKNOWN'])
    expect(doors.knocks[2]).toEqual({ tool: 'look', pid: second.pid })
    expect(doors.knocks).toHaveLength(3)
    expect(await failures(session)).toBe(0)
    expect(await repeated(session)).toEqual(['the worker shuts down', 'the worker shuts down'])
  })

  it('gives a model call back that outlasts it', async () => {
    const first = await startOne(0)
    const session = await stello.client.createSession({ agent })
    const held = fake.hold()
    const turn = await session.send('hello')
    await fake.requested(1)
    await first.terminate()
    expect(await first.ended).toEqual({ code: 0, signal: null })
    await startOne()
    await fake.requested(2)
    held.release()
    expect((await turn.result()).text).toBe('done')
    expect(await session.transcript()).toHaveLength(2)
    expect(await failures(session)).toBe(0)
    expect(await repeated(session)).toEqual(['the worker shuts down'])
  })

  it('and a second one ends at once; another goes on with what it was doing', async () => {
    const first = await startOne()
    const session = await stello.client.createSession({ agent })
    const turn = await session.send('both')
    await doors.knocked(2)
    await first.terminate()
    first.insist()
    expect(await first.ended).toEqual({ code: null, signal: 'SIGTERM' })
    await startOne()
    await doors.knocked(3)
    doors.open()
    expect((await turn.result()).text).toBe('done')
    expect(await results(session)).toEqual(['look done', 'TOOL_OUTCOME_UNKNOWN'])
    expect(await failures(session)).toBe(0)
    expect(await repeated(session)).toEqual(['its worker has died', 'its worker has died'])
  })
})
