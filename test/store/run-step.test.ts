/**
 * The ledger rule as one worker carries it out: which attempt is joined, which is waited for, and what becomes of a
 * refused result.
 */
import { describe, expect, it } from 'vitest'
import type { Attempt } from '../../src/activities/step/attempt.ts'
import type { Deps } from '../../src/activities/deps.ts'
import { runStep } from '../../src/activities/step/run-step.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { holdLiveness, newBootId, stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { readSession } from '../../src/store/sessions/session-row.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { readTurn } from '../../src/store/transcript/turns.ts'
import type { NewRecord } from '../../src/store/ledger/writes.ts'
import { createGate } from '../support/gate.ts'
import { startProxyBefore } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { claim, openSession, overtaken, take, takeOver, taker, visit } from './fixtures.ts'
import { sentBy, useDatabase } from './postgres.ts'
import { attemptOf, work, workerOn } from './steps.ts'

const at = useDatabase()
const worker = (bootId?: string, db = at.db): Deps => workerOn(db, bootId)

it('joins an attempt of its own process instead of running the step twice', async () => {
  const run = await openSession(at.db)
  const deps = worker()
  const gate = createGate()
  const tool = work(async () => {
    await gate.pass()
    return { kind: 'settle', outcome: 'done', writes: {} }
  })
  const first = runStep(deps, attemptOf(run), tool)
  await gate.reached()
  const second = runStep(deps, attemptOf(run), tool)
  gate.open()
  expect(await first).toEqual({ outcome: 'done', gen: 0 })
  expect(await second).toEqual({ outcome: 'done', gen: 0 })
  expect(gate.arrived).toBe(1)
  expect(deps.running.size).toBe(0)
})

describe('a step that nobody runs any more', () => {
  const pause = { reason: 'user', message: 'lunch' } as const
  const begin = async (owner: string): Promise<RunRef> => {
    const run = await openSession(at.db)
    await take(at.db, run, { key: 't1.0.0', owner })
    return run
  }

  it.each([
    ['a dead worker', () => visit(at.db), newBootId()],
    ['an attempt of the same worker', async () => '7001', '7001'],
  ])('although %s had begun it, is not begun while the session is paused', async (_who, owner, self) => {
    const run = await begin(await owner())
    await announceFacts(at.db, run, { key: 'a1', writes: { pause } })
    const tool = work(async ({ begun }) => ({ kind: 'settle', outcome: `begun before: ${begun}`, writes: {} }))
    expect(await runStep(worker(self), attemptOf(run), tool)).toEqual({ kind: 'notStarted' })
    await announceFacts(at.db, run, { key: 'a2', writes: { pause: null } })
    expect(await runStep(worker(), attemptOf(run), tool)).toEqual({ outcome: 'begun before: true', gen: 0 })
  })

  it('is not begun in a session that was closed meanwhile', async () => {
    const run = await begin(await visit(at.db))
    await announceFacts(at.db, run, { key: 'a1', writes: { closed: true } })
    const tool = work(() => Promise.reject(new Error('must not run')))
    expect(await runStep(worker(), attemptOf(run), tool)).toEqual({ kind: 'notStarted', closing: true })
  })
})

it('can be taken although an attempt of its own process was fenced', async () => {
  const run = await openSession(at.db)
  const deps = worker()
  const gate = createGate()
  const slow = runStep(
    deps,
    attemptOf(run),
    work(async () => {
      await gate.pass()
      return { kind: 'settle', outcome: 'late', writes: {} }
    }),
  )
  await gate.reached()
  await takeOver(at.db, run, { sessionId: run.sessionId, gen: 0, key: 't1.0.0', lease: 1 }, deps.bootId)
  const again = await runStep(
    deps,
    attemptOf(run),
    work(async () => ({ kind: 'settle', outcome: 'mine', writes: {} })),
  )
  expect(again).toEqual({ outcome: 'mine', gen: 0 })
  gate.open()
  expect(await slow).toEqual({ outcome: 'mine', gen: 0 })
})

it('begins a step whose claim succeeded without a reply, and does not take it for begun', async () => {
  const run = await openSession(at.db)
  const { proxy, url } = await startProxyBefore(at.url)
  const db = openDatabase(url)
  await db.pool.query('select 1')
  proxy.hold()
  const step = runStep(
    worker(newBootId(), db),
    attemptOf(run),
    work(async ({ begun }) => ({ kind: 'settle', outcome: `begun before: ${begun}`, writes: {} }), {
      unknown: () => ({ kind: 'settle', outcome: 'its end is unknown', writes: {} }),
    }),
  )
  const granted = { text: 'select from steps where session_id = $1', values: [run.sessionId] }
  await until('the claim is granted', async () => (await at.db.pool.query(granted)).rowCount === 1)
  proxy.cut()
  proxy.release()
  expect(await step).toEqual({ outcome: 'begun before: false', gen: 0 })
  await db.close()
  await proxy.close()
})

it('gives a step back if the store refuses its result and there is no other result', async () => {
  const run = await openSession(at.db)
  const tooBig: NewRecord = { seq: 2 ** 40, message: { role: 'assistant', content: '' }, chain: '' }
  const result = await runStep(
    worker(),
    attemptOf(run),
    work(async () => ({ kind: 'settle', outcome: 'x', writes: { records: [tooBig] } })),
  )
  expect(result).toEqual({ outcome: 'refused', gen: 0 })
  expect(await claim(at.db, run, { key: 't1.0.0' })).toMatchObject({ kind: 'mine', begun: false })
})

it('keeps a result for as long as the store is away', async () => {
  const run = await openSession(at.db)
  const { proxy, url } = await startProxyBefore(at.url)
  const db = openDatabase(url)
  let tried = 0
  // Each refusal of the store is noted for people: every 250 ms.
  const attempt: Attempt = { ...attemptOf(run), note: () => proxy.refuse(++tried < 20) }
  const step = runStep(
    worker(newBootId(), db),
    attempt,
    work(async () => {
      proxy.refuse(true)
      proxy.cut()
      return { kind: 'settle', outcome: 'done once', writes: {} }
    }),
  )
  expect(await step).toEqual({ outcome: 'done once', gen: 0 })
  expect(await claim(at.db, run, { key: 't1.0.0' })).toEqual({ kind: 'settled', gen: 0, outcome: 'done once' })
  await db.close()
  await proxy.close()
})

it.each([
  [
    'stays begun when it must not be repeated',
    { unknown: () => ({ kind: 'giveBack', result: 'unknown' }) as const },
    true,
  ],
  ['is given back when it may be repeated', {}, false],
])('whose work fails in a way nobody foresaw %s', async (_how, over, begun) => {
  const run = await openSession(at.db)
  const failing = work(() => Promise.reject(new Error('a bug')), over)
  await expect(runStep(worker(), attemptOf(run), failing)).rejects.toThrow('a bug')
  expect(await claim(at.db, run, { key: 't1.0.0' })).toMatchObject({ kind: 'mine', begun })
})

it('finds a step as begun that a dead worker had begun in an earlier generation', async () => {
  const run = await openSession(at.db)
  await claim(at.db, run, { key: 't1.0.0' })
  await visit(at.db)
  await stealDeadSteps(at.db, taker('somebody else'), { graceMs: 0 })
  const rewound = { ...run, runId: 'run-2' }
  expect(await claim(at.db, rewound, { key: 't1.0.0' })).toMatchObject({ kind: 'mine', gen: 1, begun: true })
})

it('waits for a step that another living worker has in hand, and takes its outcome', async () => {
  const run = await openSession(at.db)
  const owner = newBootId()
  const liveness = await holdLiveness(at.url, owner)
  const step = await take(at.db, run, { key: 't1.0.0', owner })
  await sentBy(async (sent) => {
    const tool = work(() => Promise.reject(new Error('must not run')))
    const waiting = runStep(worker(), attemptOf(run), tool)
    const looks = (): number => sent.filter(({ name }) => name === 'is_alive').length
    await Promise.race([waiting, until('it has looked twice', async () => looks() > 1)])
    await settleStep(at.db, step, { outcome: 'done elsewhere', writes: {} })
    expect(await waiting).toEqual({ outcome: 'done elsewhere', gen: 0 })
  })
  await liveness.release()
})

it('waits for a step that a living worker runs for an abandoned run, and takes its outcome', async () => {
  const run = await openSession(at.db)
  const bootId = newBootId()
  const liveness = await holdLiveness(at.url, bootId)
  const step = { ...(await take(at.db, run, { key: 't1.0.0', owner: bootId })) }
  const rewound = { ...run, runId: 'run-2' }
  expect(await claim(at.db, rewound, { key: 't1.0.0' })).toEqual({ kind: 'elsewhere' })
  await settleStep(at.db, step, { outcome: { gen: 0, told: 'late' }, writes: {} })
  expect(await claim(at.db, rewound, { key: 't1.0.0' })).toMatchObject({ kind: 'settled', outcome: { told: 'late' } })
  await liveness.release()
})

it('refuses to begin a step for a run while another run takes over', async () => {
  const run = await openSession(at.db)
  expect(await overtaken(at.db, run, () => claim(at.db, run))).toEqual({ kind: 'stale' })
})

it('is told of the close although a message that waits was answered before', async () => {
  const run = await openSession(at.db)
  await announceFacts(at.db, run, {
    key: 'a1',
    writes: { turns: [{ turn: 1, messageId: 'm', startSeq: 1, stopReason: 'end_turn' }] },
  })
  await announceFacts(at.db, run, {
    key: 'a2',
    writes: {
      turns: [{ turn: 2, messageId: 'm', startSeq: 3, stopReason: 'closed' }],
      closed: true,
    },
  })
  expect(await readTurn(at.db, { sessionId: run.sessionId, gen: 0 }, 'm')).toMatchObject({
    turn: 1,
    stopReason: 'end_turn',
  })
  expect((await readSession(at.db, run.sessionId))?.closedAt).toBeDefined()
})

describe('a step that did not end', () => {
  it.each([
    ['is tried again', { kind: 'retry', error: new Error('429'), failed: true }, { failures: 1, begun: false }],
    ['is unknown', { kind: 'retry', error: new Error('429'), failed: false, begun: true }, { begun: true }],
    ['waits for a resume', { kind: 'giveBack', result: 'paused' }, { failures: 0, begun: false }],
  ] as const)(
    'and %s is given back once the store answers: nobody waits for its worker',
    async (_what, ending, next) => {
      const run = await openSession(at.db)
      const { proxy, url } = await startProxyBefore(at.url)
      const db = openDatabase(url)
      const attempt: Attempt = { ...attemptOf(run), note: () => proxy.refuse(false) }
      const step = runStep(
        worker(newBootId(), db),
        attempt,
        work(async () => {
          proxy.refuse(true)
          proxy.cut()
          return ending
        }),
      )
      await step.catch((error: Error) => expect(error.message).toBe('429'))
      expect(await claim(at.db, run, { key: 't1.0.0' })).toMatchObject({ kind: 'mine', ...next })
      await db.close()
      await proxy.close()
    },
  )

  it('because the store refuses its end is given back as begun', async () => {
    const run = await openSession(at.db)
    const records: NewRecord[] = [{ seq: 2 ** 40, message: { role: 'tool', content: '' }, chain: '' }]
    const refused = { kind: 'settle', outcome: 'x', writes: { records } } as const
    const ended = runStep(
      worker(),
      attemptOf(run),
      work(async () => refused, { refused: () => refused }),
    )
    await expect(ended).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    expect(await claim(at.db, run, { key: 't1.0.0' })).toMatchObject({ kind: 'mine', begun: true })
  })
})

it('begins nothing while no connection shows that this worker lives: it waits, and then asks once', async () => {
  const run = await openSession(at.db)
  let asked = 0
  const deps = { ...worker(), liveness: { held: () => ++asked > 2 } }
  const sent = await sentBy(async () => {
    const tool = work(async () => ({ kind: 'settle', outcome: `asked ${asked} times`, writes: {} }))
    expect(await runStep(deps, attemptOf(run), tool)).toMatchObject({ outcome: 'asked 3 times' })
  })
  expect(sent.filter(({ name }) => name === 'claim')).toHaveLength(1)
})
