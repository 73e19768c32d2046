/**
 * A worker is replaced while forty sessions have long histories. The new worker has none of them in memory, and all of
 * them ask at once. The replay of all must fit into the time-outs, or everything is thrown away and replayed again.
 */
import { expect, it } from 'vitest'
import type { SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { LONG_RUN } from '../../src/workflows/run-load.ts'
import { resumeSignal } from '../../src/protocol/temporal-messages.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import { runsOf, type Run } from '../support/runs.ts'
import { ask } from '../support/session-fixture.ts'

const SESSIONS = 40
const TURNS = 8
/** Signals that change nothing: a cheap way to a long history. Each session gets more of them than the one before. */
const SIGNALS_MORE = 13
/**
 * `TIMEOUT_TYPE_START_TO_CLOSE`: a worker had the task and did not end it. The time-out for the cache of a dead worker
 * is another one.
 */
const START_TO_CLOSE = 1
/**
 * On an idle machine one task times out, on a busy one eight did. With long runs and 200 replays at once, 29 did on the idle
 * machine.
 */
const FEW = SESSIONS / 2
const stage = useCrashStage()

async function live(session: SessionHandle, n: number): Promise<void> {
  const workflow = stage.client.temporal.workflow.getHandle(session.id)
  for (let signals = 0; signals < n * SIGNALS_MORE; signals++) await workflow.signal(resumeSignal)
  const turns: TurnHandle[] = []
  for (let turn = 0; turn < TURNS; turn++) turns.push(await session.send(`both #${n}-${turn}`))
  for (const turn of turns) await turn.result()
}

/**
 * A run may be longer by the steps under way, and by the signals that came meanwhile: on an idle machine it has 740 events,
 * on a busy one 790. Runs without an end have 1,180.
 */
function expectShort(runs: Run[]): void {
  expect(Math.max(...runs.map(({ events }) => events.length))).toBeLessThan(2 * LONG_RUN)
}

function timedOut(runs: Run[]): number {
  return runs
    .flatMap(({ events }) => events)
    .filter(({ workflowTaskTimedOutEventAttributes: one }) => one?.timeoutType === START_TO_CLOSE).length
}

it('answers in every one of them, whether the worker was killed or stopped, and almost no task is thrown away', async () => {
  let worker = await stage.startWorker()
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => stage.session()))
  await Promise.all(sessions.map(live))

  await worker.kill()
  const waiting = await Promise.all(sessions.map((session) => session.send('after the kill')))
  worker = await stage.startWorker()
  for (const turn of waiting) expect((await turn.result()).text).toBe('answer to after the kill')

  // A deploy: the new worker serves before the old one stops.
  await stage.startWorker()
  const stopping = worker.terminate()
  const answers = await Promise.all(sessions.map((session) => ask(session, 'meanwhile')))
  expect(new Set(answers)).toEqual(new Set(['answer to meanwhile']))
  await stopping
  await worker.ended
  for (const session of sessions) expect(await ask(session, 'after the stop')).toBe('answer to after the stop')

  const runs = (await Promise.all(sessions.map((session) => runsOf(stage, session)))).flat()
  expect(runs.length).toBeGreaterThan(SESSIONS * 1.2)
  expectShort(runs)
  expect(timedOut(runs)).toBeLessThanOrEqual(FEW)
  expect(stage.doors.knocks.filter(({ tool }) => tool === 'pay')).toHaveLength(SESSIONS * TURNS)
})
