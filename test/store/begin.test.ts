/** A step that is prepared before it begins: when its end may be unknown, and who may begin it. */
import { describe, expect, it } from 'vitest'
import { runStep } from '../../src/activities/step/run-step.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { beginStep } from '../../src/store/ledger/begin.ts'
import { stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { forceStep } from '../../src/store/ledger/settle.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import type { StepId } from '../../src/store/ledger/claim.ts'
import { claim, openSession, overtaken, placeAt, resetRun, take, taker, visit } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { attemptOf, work, workerOn } from './steps.ts'

const at = useDatabase()
const key = 't1.0.0'
const preparing = { key, preparing: true }

/** Taken by a worker that is dead when `meanwhile` is over. */
async function lost(meanwhile: (run: RunRef, step: StepId) => unknown = () => undefined): Promise<RunRef> {
  const run = await openSession(at.db)
  await meanwhile(run, await take(at.db, run, { ...preparing, owner: await visit(at.db) }))
  await stealDeadSteps(at.db, taker('a survivor'))
  return run
}

const begin = (_run: RunRef, step: StepId): Promise<boolean> => beginStep(at.db, step)

describe('a step whose worker died while it prepared', () => {
  it('has not begun: the next attempt prepares it anew', async () => {
    expect(await claim(at.db, await lost(), preparing)).toMatchObject({ kind: 'mine', begun: false, deaths: 1 })
  })

  it('has not begun either if its first taker had only been waited for', async () => {
    const run = await openSession(at.db)
    await forceStep(at.db, { run, key, kind: 'tool', name: 'pay' })
    await take(at.db, run, { ...preparing, owner: await visit(at.db) })
    await stealDeadSteps(at.db, taker('a survivor'))
    expect(await claim(at.db, run, preparing)).toMatchObject({ kind: 'mine', begun: false })
  })

  it('is not begun although an abandoned run had begun it', async () => {
    const run = await openSession(at.db)
    await take(at.db, run, { ...preparing, owner: await visit(at.db) })
    const reset = resetRun({ ...run, place: placeAt(0) }, 'run-2', 0)
    expect(await claim(at.db, reset, preparing)).toMatchObject({ kind: 'mine', gen: 1, begun: false })
  })
})

describe('a step that was begun after its preparation', () => {
  it('has an unknown end when its worker dies', async () => {
    expect(await claim(at.db, await lost(begin), preparing)).toMatchObject({ kind: 'mine', begun: true })
  })

  it('stays unknown, however many workers take it to prepare it', async () => {
    const run = await lost(begin)
    await take(at.db, run, { ...preparing, owner: await visit(at.db) })
    await stealDeadSteps(at.db, taker('a survivor'))
    expect(await claim(at.db, run, { ...preparing, alone: true })).toMatchObject({ kind: 'mine', begun: true })
  })

  it('stays unknown in the generation that a reset opens', async () => {
    const run = await openSession(at.db)
    const owner = await visit(at.db)
    await beginStep(at.db, await take(at.db, run, { ...preparing, owner }))
    const reset = resetRun(run, 'run-2', 0)
    expect(await claim(at.db, reset, { ...preparing, owner: await visit(at.db) })).toMatchObject({ begun: true })
    await stealDeadSteps(at.db, taker('a survivor'))
    expect(await claim(at.db, reset, { ...preparing, alone: true })).toMatchObject({ begun: true })
  })
})

describe('nobody begins a step', () => {
  it.each([
    ['that another has taken', (run: RunRef) => forceStep(at.db, { run, key, kind: 'tool', name: 'pay' })],
    [
      'of a session that was paused meanwhile',
      (run: RunRef) =>
        announceFacts(at.db, run, { key: 'a1', writes: { pause: { reason: 'user', message: 'lunch' } } }),
    ],
    ['of a run that was rewound meanwhile', (run: RunRef) => claim(at.db, resetRun(run, 'run-2', 0), preparing)],
  ])('%s', async (_how, meanwhile) => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, preparing)
    await meanwhile(run)
    expect(await beginStep(at.db, step)).toBe(false)
  })

  it('while another run takes the session over', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, preparing)
    expect(await overtaken(at.db, run, () => beginStep(at.db, step))).toBe(false)
  })
})

it('a step that must not begin is given back, whatever its work makes of that', async () => {
  const run = await openSession(at.db)
  const tool = work(
    async (_claim, _stop, { begin }) => {
      await announceFacts(at.db, run, { key: 'a1', writes: { pause: { reason: 'user', message: 'lunch' } } })
      await begin().catch(() => undefined)
      return { kind: 'settle', outcome: 'done', writes: {} }
    },
    { unknown: () => ({ kind: 'settle', outcome: 'unknown', writes: {} }) },
  )
  const prepared = { ...tool, step: { ...tool.step, preparing: true } }
  await expect(runStep(workerOn(at.db), attemptOf(run), prepared)).rejects.toThrow('does not begin')
  expect(await runStep(workerOn(at.db), attemptOf(run), prepared)).toEqual({ kind: 'notStarted' })
  await announceFacts(at.db, run, { key: 'a2', writes: { pause: null } })
  expect(await claim(at.db, run, { ...preparing, inputHash: 'hash' })).toMatchObject({ kind: 'mine', begun: false })
})
