/**
 * How many workers a step has killed: what counts as a death, what ends the counting, and who may be its last taker.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { TAKERS, type ClaimRequest, type StepId } from '../../src/store/ledger/claim.ts'
import { stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { parkStep, reopenStep } from '../../src/store/ledger/parked.ts'
import { pendingId } from '../../src/protocol/keys.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { forceStep, releaseStep } from '../../src/store/ledger/settle.ts'
import { leaveWorker } from '../../src/store/ledger/workers.ts'
import { OTHER_OWNER, TOKEN, claim, killTakers, openSession, take, visit, taker } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const SURVIVOR = '0'

beforeAll(() => visit(at.db))

/** A step that a worker has taken and died with. */
async function died(): Promise<{ run: RunRef; step: StepId }> {
  const run = await openSession(at.db)
  return { run, step: await take(at.db, run, { owner: await visit(at.db) }) }
}

const steal = (): Promise<unknown> => stealDeadSteps(at.db, taker(SURVIVOR))
/** As an attempt does that has waited for its end. */
const findDead = (step: StepId): Promise<unknown> =>
  releaseStep(at.db, step, { failed: false, begun: true, died: true })

async function deathsOf(run: RunRef, request?: Partial<ClaimRequest>): Promise<number> {
  const claimed = await claim(at.db, run, { owner: OTHER_OWNER, alone: true, ...request })
  if (claimed.kind !== 'mine') throw new Error(`the step is not free: ${claimed.kind}`)
  return claimed.deaths
}

describe('a worker that dies with a step in hand', () => {
  it.each<[string, (step: StepId) => Promise<unknown>]>([
    ['two survivors that look at once', () => Promise.all([steal(), steal()])],
    ['two attempts that waited for its end', (step) => Promise.all([findDead(step), findDead(step)])],
    ['an attempt, and then a survivor', (step) => findDead(step).then(steal)],
    ['a survivor, and then an attempt', (step) => steal().then(() => findDead(step))],
    ['a survivor and an attempt at once', (step) => Promise.all([steal(), findDead(step)])],
  ])('is counted once by %s', async (_who, find) => {
    const { run, step } = await died()
    await find(step)
    expect(await deathsOf(run)).toBe(1)
  })

  it('is counted together with those before it', async () => {
    const run = await openSession(at.db)
    await killTakers(at.db, run, TAKERS)
    expect(await deathsOf(run)).toBe(TAKERS)
  })

  it('is counted while it finds out how a lost call ended', async () => {
    const run = await openSession(at.db)
    await take(at.db, run)
    const step = { key: 'm1.0', kind: 'tool', name: 'pay' }
    await forceStep(at.db, { run, ...step, holder: { owner: await visit(at.db), token: TOKEN } })
    await steal()
    expect(await forceStep(at.db, { run, ...step })).toMatchObject({ deaths: 1, begun: true })
  })
})

describe('no death is', () => {
  it('a worker that leaves in order, with a call in hand that it could not end', async () => {
    const run = await openSession(at.db)
    const owner = await visit(at.db)
    await take(at.db, run, { owner })
    await leaveWorker(at.db, owner)
    await steal()
    expect(await deathsOf(run)).toBe(0)
  })

  it.each([
    ['a hand-over', { failed: false }],
    ['an attempt of a living worker that was lost', { failed: false, begun: true }],
  ])('%s', async (_what, giving) => {
    const run = await openSession(at.db)
    await killTakers(at.db, run, 1)
    await releaseStep(at.db, await take(at.db, run), giving)
    expect(await deathsOf(run)).toBe(1)
  })
})

describe('the deaths before count no more', () => {
  it.each([
    ['fails at its work', { failed: true }],
    ['has the session paused', { failed: false, reset: true }],
  ])('when a taker lives and %s', async (_how, giving) => {
    const run = await openSession(at.db)
    await killTakers(at.db, run, 2)
    await releaseStep(at.db, await take(at.db, run, { alone: true }), giving)
    expect(await deathsOf(run)).toBe(0)
  })

  it('when a person has the call run again', async () => {
    const run = await openSession(at.db)
    await killTakers(at.db, run, 2)
    const parked = await take(at.db, run, { alone: true })
    const question = {
      kind: 'unknown_outcome',
      name: 'pay',
      callId: 'c',
      turn: 1,
      round: 0,
      preview: '',
      message: '',
    } as const
    await parkStep(at.db, parked, { question: { id: pendingId(parked), ...question } })
    await reopenStep(at.db, parked, { writes: {} })
    expect(await deathsOf(run)).toBe(0)
  })

  it('but they do if the tool itself said so, because it would run for ever otherwise', async () => {
    const run = await openSession(at.db)
    await killTakers(at.db, run, 2)
    await reopenStep(at.db, await take(at.db, run, { alone: true }), { writes: {} })
    expect(await deathsOf(run)).toBe(2)
  })
})

describe('one more death would be the last', () => {
  it('so that the step is given only to who runs it alone', async () => {
    const run = await openSession(at.db)
    await killTakers(at.db, run, TAKERS - 2)
    const step = await take(at.db, run)
    await releaseStep(at.db, step, { failed: false })
    await killTakers(at.db, run, 1)
    expect(await claim(at.db, run)).toEqual({ kind: 'lastChance' })
    expect(await claim(at.db, run, { alone: true })).toMatchObject({ kind: 'mine', deaths: TAKERS - 1, begun: true })
  })

  it('and after it anybody may end the step', async () => {
    const run = await openSession(at.db)
    await killTakers(at.db, run, TAKERS)
    expect(await claim(at.db, run)).toMatchObject({ kind: 'mine', deaths: TAKERS })
  })
})
