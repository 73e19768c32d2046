/** A worker is killed while a session moves to its next run. The server asks for a new run after a few dozen events. */
import { afterEach, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import type { WorkerProcess } from '../support/crashing.ts'
import { historyOf, viewOf } from '../support/settled.ts'
import { expectUndisturbed, readStory } from '../support/story.ts'
import { startTemporalWith } from '../support/temporal.ts'
import { until } from '../support/until.ts'

const SUGGESTED_AT = 40
const stage = useCrashStage({
  openServers: () => startTemporalWith([`limit.historyCount.suggestContinueAsNew=${SUGGESTED_AT}`]),
})
let worker: WorkerProcess | undefined

afterEach(async () => {
  await worker?.kill()
  worker = undefined
})

async function runsOf({ id }: SessionHandle): Promise<number> {
  const { rows } = await stage.db.pool.query('select from runs where session_id = $1', [id])
  return rows.length
}

const say = (session: SessionHandle, n: number) => session.send(`message ${n}`, { messageId: `message-${n}` })

it.each([
  ['before the next run is known to the store', 'drop'],
  ['when the store knows the next run, and the workflow does not know that', 'letThrough'],
] as const)('%s', async (_when, decide) => {
  worker = await stage.startWorker()
  const [session, twin] = [await stage.session(), await stage.session()]
  // The first run is known when the first message is answered.
  await (await say(session, 0)).result()
  const adopting = await stage.holds.hold({ session: session.id, moment: 'adopt' })
  let [sent, goesOver] = [1, false]
  const reached = adopting.reached().then(() => (goesOver = true))
  while (!goesOver) await Promise.race([(await say(session, sent++)).result(), reached])
  await worker.kill()
  const last = await say(session, sent++)
  await adopting[decide]()
  worker = await stage.startWorker()
  await last.result()
  for (let n = 0; n < sent; n++) await (await say(twin, n)).result()
  expect(await runsOf(session)).toBeGreaterThan(1)
  expectUndisturbed(await readStory(stage, session), await readStory(stage, twin))
})

it('while it waits for a tool to end before it can do so', async () => {
  worker = await stage.startWorker()
  const live = async (session: SessionHandle, disturb: () => Promise<void>): Promise<void> => {
    const shut = stage.doors.hold(({ key }) => key.startsWith(session.id))
    const turn = await session.send('look', { messageId: 'look' })
    await shut.reached()
    const turns = []
    for (let n = 0; n < SUGGESTED_AT; n++) turns.push(await say(session, n))
    await viewOf(stage.client, session, ({ queued }) => queued === SUGGESTED_AT)
    await until('continue-as-new is suggested', async () => {
      return (await historyOf(stage.client, session.id)).events > SUGGESTED_AT
    })
    expect(await runsOf(session)).toBe(1)
    await disturb()
    shut.open()
    for (const each of [turn, ...turns]) await each.result()
    expect(await runsOf(session)).toBeGreaterThan(1)
  }
  const [session, twin] = [await stage.session(), await stage.session()]
  await live(twin, async () => undefined)
  await live(session, async () => {
    await worker?.kill()
    worker = await stage.startWorker()
  })
  expectUndisturbed(await readStory(stage, session), await readStory(stage, twin), { called: { 'main t1.0.0': 1 } })
})
