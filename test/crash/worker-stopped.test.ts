/**
 * SIGTERM to a real worker process, as in each deploy. Running work is finished or handed over. No attempt counts as
 * failed, nothing waits for a time-out, and no effect happens twice.
 */
import { temporal } from '@temporalio/proto'
import { afterEach, describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import type { WorkerProcess } from '../support/crashing.ts'

const stage = useCrashStage()
afterEach(() => stage.killWorkers())

const startOne = (shutdownGraceMs = 60_000): Promise<WorkerProcess> => stage.startWorker({ shutdownGraceMs })

/** The failed attempts of all steps, as the ledger counts them. */
async function failures({ id }: SessionHandle): Promise<number> {
  const { rows } = await stage.db.pool.query<{ sum: number }>(
    'select sum(failures)::int as sum from steps where session_id = $1',
    [id],
  )
  return rows[0]?.sum ?? -1
}

/** Why Temporal repeated attempts. */
async function repeated({ id }: SessionHandle): Promise<string[]> {
  const { events } = await stage.client.temporal.workflow.getHandle(id).fetchHistory()
  const { EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT } = temporal.api.enums.v1.EventType
  expect((events ?? []).map(({ eventType }) => eventType)).not.toContain(EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT)
  return (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) =>
    started && (started.attempt ?? 1) > 1 ? [started.lastFailure?.message ?? ''] : [],
  )
}

/** Which tools were run, and by which process. */
const ran = (tag: string): { tool: string; pid: number }[] =>
  stage.doors.knocks.filter((knock) => knock.tag === tag).map(({ tool, pid }) => ({ tool, pid }))

const results = async (session: SessionHandle): Promise<string[]> =>
  (await session.transcript()).filter(({ role }) => role === 'tool').map(({ content }) => content.split(':')[0] ?? '')

describe('a worker that gets SIGTERM', () => {
  it('lets tools end within the grace time, and another worker does the rest', async () => {
    const first = await startOne()
    const session = await stage.session()
    const gate = stage.doors.hold(({ tag }) => tag === '#1')
    const turn = await session.send('both #1')
    await gate.reached(2)
    await first.terminate()
    await startOne()
    gate.open()
    expect((await turn.result()).text).toBe('done after 2')
    expect(await first.ended).toEqual({ code: 0, signal: null })
    expect(await results(session)).toEqual(['look done', 'pay done'])
    expect(ran('#1')).toHaveLength(2)
    expect(await failures(session)).toBe(0)
    expect(await repeated(session)).toEqual([])
  })

  it('hands over what runs longer: a pure tool runs again, a tool with an effect ends as unknown, and neither has failed', async () => {
    const first = await startOne(0)
    const session = await stage.session()
    const gate = stage.doors.hold(({ tag }) => tag === '#2')
    const turn = await session.send('both #2')
    await gate.reached(2)
    await first.terminate()
    expect(await first.ended).toEqual({ code: 0, signal: null })
    const second = await startOne()
    await gate.reached(3)
    gate.open()
    expect((await turn.result()).text).toBe('done after 2')
    expect(await results(session)).toEqual(['look done', 'TOOL_OUTCOME_UNKNOWN'])
    expect(ran('#2').slice(2)).toEqual([{ tool: 'look', pid: second.pid }])
    expect(await failures(session)).toBe(0)
    expect(await repeated(session)).toEqual(['the worker shuts down', 'the worker shuts down'])
  })

  it('gives a model call back that runs longer', async () => {
    const first = await startOne(0)
    const session = await stage.session()
    const asked = stage.fake.requests.length
    const held = stage.fake.hold()
    const turn = await session.send('hello')
    await stage.fake.requested(asked + 1)
    await first.terminate()
    expect(await first.ended).toEqual({ code: 0, signal: null })
    await startOne()
    await stage.fake.requested(asked + 2)
    held.release()
    expect((await turn.result()).text).toBe('answer to hello')
    expect(await session.transcript()).toHaveLength(2)
    expect(await failures(session)).toBe(0)
    expect(await repeated(session)).toEqual(['the worker shuts down'])
  })

  it('ends at once at a second one; another worker goes on with the same work', async () => {
    const first = await startOne()
    const session = await stage.session()
    const gate = stage.doors.hold(({ tag }) => tag === '#4')
    const turn = await session.send('both #4')
    await gate.reached(2)
    await first.terminate()
    first.insist()
    expect(await first.ended).toEqual({ code: null, signal: 'SIGTERM' })
    await startOne()
    await gate.reached(3)
    gate.open()
    expect((await turn.result()).text).toBe('done after 2')
    expect(await results(session)).toEqual(['look done', 'TOOL_OUTCOME_UNKNOWN'])
    expect(await failures(session)).toBe(0)
    expect(await repeated(session)).toEqual(['its worker has died', 'its worker has died'])
  })
})
