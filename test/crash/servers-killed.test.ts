/**
 * Servers die, or are away, in the middle of a turn: nothing is done twice, nothing is lost. The servers belong to this
 * file alone. The provider and the tools' other side live in the test, which counts the requests. `STELLO_CRASH=all`
 * adds what takes longer.
 */
import { optionalTsToMs } from '@temporalio/common/lib/time.js'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { newBootId, stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { useFreshStage } from '../support/crash-stage.ts'
import type { WorkerProcess } from '../support/crashing.ts'
import { startOwnServers, type OwnServers, type Server } from '../support/own-servers.ts'
import { eventsUntil } from '../support/session-fixture.ts'
import { stepsShown, viewOf } from '../support/settled.ts'
import { until } from '../support/until.ts'

const ALL = process.env['STELLO_CRASH'] === 'all'
const AWAY_MS = 9000

let servers: OwnServers
const stage = useFreshStage({ openServers: async () => (servers = await startOwnServers()) })
let worker: WorkerProcess

beforeEach(async () => {
  worker = await stage.startWorker()
})

afterEach(async () => {
  servers.thaw('temporal')
  servers.thaw('postgres')
  await servers.start()
})

/** A turn in the middle of its only tool. */
async function turnAt(tool: 'look' | 'pay'): Promise<SessionHandle> {
  const session = await stage.session()
  await session.send(tool, { messageId: 'only' })
  await stage.doors.knocked(1)
  return session
}

/** A turn in the middle of its `n`th model call. */
async function turnAtModel(n: 1 | 2): Promise<{ session: SessionHandle; release(): void }> {
  const session = await stage.session()
  let held = n === 1 ? stage.fake.hold() : undefined
  await session.send('look', { messageId: 'only' })
  if (n === 2) {
    await stage.doors.knocked(1)
    held = stage.fake.hold()
    stage.door.open()
    await stage.fake.requested(2)
  } else {
    await stage.fake.requested(1)
    stage.door.open()
  }
  return { session, release: () => held?.release() }
}

/**
 * A step that may be repeated is claimed with an asynchronous commit, which a killed server may forget. Here it must
 * not forget.
 */
async function flushed(): Promise<void> {
  await stage.db.pool.query('checkpoint')
}

/** The turn ends, and everything about it is stored once. */
async function expectWhole(session: SessionHandle, tool: 'look' | 'pay', result = `tool: ${tool} done`): Promise<void> {
  expect((await session.turn('only').result()).text).toBe('done after 1')
  await viewOf(stage.client, session)
  const told = (await session.transcript()).map(({ role, content }) => `${role}: ${content.split(':')[0]}`)
  expect(told).toEqual([`user: ${tool}`, 'assistant: ', result, 'assistant: done after 1'])
  const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
  // A take-over is told only if the claim of the dead worker had reached the disk.
  expect(events.map(({ type }) => type).filter((type) => type !== 'step.taken_over')).toEqual([
    'turn.started',
    'message.completed',
    'tool.status',
    'message.completed',
    'turn.completed',
  ])
  expect(events.map(({ offset }) => offset)).toEqual(events.map((_, nth) => nth))
}

function expectOnce(): void {
  expect(stage.doors.knocks).toHaveLength(1)
  expect(stage.fake.requests).toHaveLength(2)
}

describe.each([
  { what: 'Temporal', killed: ['temporal'] },
  { what: 'PostgreSQL', killed: ['postgres'] },
  { what: 'both servers', killed: ['temporal', 'postgres'] },
] as { what: string; killed: Server[] }[])('when $what is killed and started again', ({ what, killed }) => {
  it('during a tool with an effect, the tool is not run again and its result is known', async () => {
    const session = await turnAt('pay')
    await servers.kill(...killed)
    await servers.start()
    stage.door.open()
    await expectWhole(session, 'pay')
    expectOnce()
  })

  it.runIf(ALL)('during a tool that may be repeated, the tool is not run again either', async () => {
    const session = await turnAt('look')
    await flushed()
    await servers.kill(...killed)
    await servers.start()
    stage.door.open()
    await expectWhole(session, 'look')
    expectOnce()
  })

  it.runIf(ALL).each([1, 2] as const)('during model call %i of a turn, the call is not repeated', async (n) => {
    const { session, release } = await turnAtModel(n)
    await flushed()
    await servers.kill(...killed)
    await servers.start()
    release()
    await expectWhole(session, 'look')
    expectOnce()
  })

  it.runIf(ALL || what === 'PostgreSQL')(
    'between the end of a tool and its settle, the result is kept until it is settled',
    async () => {
      const session = await turnAt('pay')
      await servers.kill(...killed)
      stage.door.open()
      await stage.doors.answered(1)
      await servers.start()
      await expectWhole(session, 'pay')
      expectOnce()
    },
  )

  it.runIf(ALL)('between two turns, the messages sent to the dead servers arrive once', async () => {
    const session = await turnAt('look')
    stage.door.open()
    await session.turn('only').result()
    await servers.kill(...killed)
    const sent = persist(() => session.send('hello', { messageId: 'second' }))
    await servers.start()
    const turn = await sent
    await session.send('hello', { messageId: 'second' })
    expect((await turn.result()).text).toBe('answer to hello')
    await (await session.send('hello', { messageId: 'third' })).result()
    expect((await session.transcript()).filter(({ role }) => role === 'user')).toHaveLength(3)
    expect(stage.fake.requests).toHaveLength(4)
  })
})

/** A sender whose message meets dead servers sends it again. The same message id is the same turn. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch {
      await delay(100)
    }
  }
}

describe('what a killed PostgreSQL has forgotten', () => {
  it.runIf(ALL)(
    'of a tool that may be repeated is the claim: the tool runs again, and once into the transcript',
    async () => {
      const session = await turnAt('look')
      // What is left of an asynchronous commit when the server dies before it is written.
      await stage.db.pool.query(`delete from steps where session_id = $1 and step_key = 't1.0.0'`, [session.id])
      stage.door.open()
      await expectWhole(session, 'look')
      expect(stage.doors.knocks).toHaveLength(2)
      expect(stage.fake.requests).toHaveLength(2)
    },
  )
})

it('PostgreSQL is killed and comes back as a standby that only reads: a result is kept until the standby is promoted', async () => {
  const session = await turnAt('pay')
  await servers.standBy()
  stage.door.open()
  await kept(session)
  await servers.promote()
  await expectWhole(session, 'pay')
  expectOnce()
})

/** Resolves when a worker reports that a step has ended and that the store does not take its end. */
async function kept(session: SessionHandle): Promise<void> {
  await until('the worker keeps a result', async () =>
    (await stepsShown(stage.client, session)).includes('is tried to be stored until it succeeds'),
  )
}

describe('when one process of PostgreSQL is killed, and the postmaster starts all others anew', () => {
  it('a worker that loses its lock by that is not taken for dead', async () => {
    const session = await turnAt('pay')
    // The worker cannot take its lock again before others look.
    process.kill(worker.pid, 'SIGSTOP')
    await servers.crash()
    expect(await persist(() => stealDeadSteps(stage.db, { bootId: newBootId(), namespace: 'default' }))).toEqual([])
    process.kill(worker.pid, 'SIGCONT')
    stage.door.open()
    await expectWhole(session, 'pay')
    expectOnce()
  })
})

/** Resolves when Temporal has a new sign of life of the running attempt, or when nothing runs any more. */
async function heardOf({ id }: SessionHandle): Promise<void> {
  const since = Date.now()
  await until('Temporal hears of the step', async () => {
    const { raw } = await persist(() => stage.client.temporal.workflow.getHandle(id).describe())
    return (raw.pendingActivities ?? []).every(({ lastHeartbeatTime: at }) => (optionalTsToMs(at) ?? 0) > since)
  })
}

/** The numbers of the attempts that Temporal began, as the history has them. */
async function attemptsOf({ id }: SessionHandle): Promise<number[]> {
  const { events } = await stage.client.temporal.workflow.getHandle(id).fetchHistory()
  const started = (events ?? []).flatMap(({ activityTaskStartedEventAttributes: one }) => one?.attempt ?? [])
  return [...new Set(started)]
}

/** How long Temporal waits for a sign of life from each step of a model or a tool. */
async function patienceWith({ id }: SessionHandle): Promise<number[]> {
  const { events } = await stage.client.temporal.workflow.getHandle(id).fetchHistory()
  const steps = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: one }) =>
    ['callModel', 'callTool'].includes(one?.activityType?.name ?? '')
      ? [optionalTsToMs(one?.heartbeatTimeout) ?? 0]
      : [],
  )
  return [...new Set(steps)]
}

describe(`when Temporal is away for ${AWAY_MS / 1000} s`, () => {
  const frozen = async (): Promise<void> => {
    servers.freeze('temporal')
    await delay(AWAY_MS)
    servers.thaw('temporal')
  }
  const dead = async (): Promise<void> => {
    await servers.kill('temporal')
    await delay(AWAY_MS)
    await servers.start()
  }

  it.each(
    [
      ['does not answer', frozen],
      ['is dead', dead],
    ].slice(0, ALL ? 2 : 1) as [string, () => Promise<void>][],
  )('and %s, a step that runs is not begun twice', async (_, away) => {
    const session = await turnAt('pay')
    await away()
    // If Temporal makes another attempt, that one finds the step running.
    await heardOf(session)
    expect(stage.doors.knocks).toHaveLength(1)
    stage.door.open()
    await expectWhole(session, 'pay')
    expectOnce()
    expect(await attemptsOf(session)).toEqual([1])
    // Otherwise this state would last for a minute.
    expect(await patienceWith(session)).toEqual([60_000])
  })

  it.runIf(ALL)('a model call that ends meanwhile is told when it is back', async () => {
    const { session, release } = await turnAtModel(2)
    servers.freeze('temporal')
    release()
    await eventsUntil(session, ({ type }) => type === 'turn.completed')
    await delay(AWAY_MS)
    servers.thaw('temporal')
    await expectWhole(session, 'look')
    expectOnce()
  })
})

describe('when PostgreSQL hangs, and does its waiting work after all clients have given up', () => {
  it.runIf(ALL)('a result that was given up to it is settled once', async () => {
    const session = await turnAt('pay')
    servers.freeze('postgres')
    stage.door.open()
    await kept(session)
    servers.thaw('postgres')
    await expectWhole(session, 'pay')
    expectOnce()
  })
})

describe.runIf(ALL)('when both servers and the worker are killed at once', () => {
  const killAll = async (): Promise<void> => {
    await Promise.all([stage.killWorkers(), servers.kill('temporal', 'postgres')])
    await servers.start()
    await stage.startWorker()
  }

  it('a tool with an effect is not run again: its outcome is unknown, and the model reads so', async () => {
    const session = await turnAt('pay')
    await killAll()
    stage.door.open()
    await expectWhole(session, 'pay', 'tool: TOOL_OUTCOME_UNKNOWN')
    expectOnce()
  })

  it('a tool that may be repeated is run again, and no model is asked again', async () => {
    const session = await turnAt('look')
    await killAll()
    stage.door.open()
    await expectWhole(session, 'look')
    expect(stage.doors.knocks).toHaveLength(2)
    expect(stage.fake.requests).toHaveLength(2)
  })

  it.each([1, 2] as const)('only model call %i, which was under way, is repeated', async (n) => {
    const { session, release } = await turnAtModel(n)
    await killAll()
    release()
    await expectWhole(session, 'look')
    expect(stage.doors.knocks).toHaveLength(1)
    expect(stage.fake.requests).toHaveLength(3)
  })
})
