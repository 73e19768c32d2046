/**
 * Steps that block the whole process of the worker that takes them. The watchdog ends the process, a supervisor starts
 * another one, and after three deaths the step is not run again. Meanwhile another session is answered.
 */
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { TAKERS } from '../../src/store/ledger/claim.ts'
import { builtModule } from '../support/built.ts'
import { spawnWorker } from '../support/crashing.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import { ask, eventOf } from '../support/session-fixture.ts'
import { keepWorkers, type KeptWorkers } from './tree/workers.ts'

const stage = useCrashStage()
/** A loop that stands still for longer than this is ended. */
const STALL_MS = 3000
/**
 * The time for a turn of the other session. A turn takes up to 12 s on two cores, and a minute more if Temporal must
 * first miss its worker.
 */
const PATIENCE_MS = 60_000

const folder = mkdtempSync(join(tmpdir(), 'stello-poison-'))
const log = join(folder, 'workers.log')
let workers: KeptWorkers

beforeAll(async () => {
  const module = builtModule('test/support/worker-process.ts')
  const urls = { modelUrl: stage.fake.url, gateUrl: stage.doors.url }
  const settings = { agent: stage.agent, ...stage.servers, ...urls, stallLimitMs: STALL_MS }
  const stderr = openSync(log, 'a')
  workers = keepWorkers(2, () => spawnWorker(settings, { module, stderr }))
})
afterAll(async () => {
  await workers.close()
  rmSync(folder, { recursive: true })
})

/** Sends turn after turn until it is told to stop. @returns how long each took, in milliseconds */
function keepAsking(session: SessionHandle): { stop(): Promise<number[]> } {
  let stopped = false
  const took: number[] = []
  const asking = (async () => {
    for (let n = 1; !stopped; n++) {
      const begun = performance.now()
      expect(await ask(session, `look #${n}`)).toBe('done after 1')
      took.push(performance.now() - begun)
    }
    return took
  })()
  return { stop: () => ((stopped = true), asking) }
}

interface Poison {
  word: string
  key: string
  name: string
  kind: string
}

/** Runs the session with the blocking step beside another session, until the step is not run again. */
async function swallow({ word, key, name, kind }: Poison): Promise<{ session: SessionHandle; file: string }> {
  const neighbouring = await stage.session()
  const neighbour = keepAsking(neighbouring)
  const session = await stage.session()
  const file = join(folder, word)
  await session.send(`${word} #${file}`, { messageId: 'poison' })
  const { data } = await eventOf(session, 'step.quarantined')
  expect(data).toMatchObject({ key, kind, name, turn: 1, deaths: 3 })
  const said = readFileSync(log, 'utf8')
  const took = await neighbour.stop()
  expect(Math.max(...took), `turns took ${took.map(Math.round).join(' ')} ms; workers said:\n${said}`).toBeLessThan(
    PATIENCE_MS,
  )
  // The other session had a step in hand at some of the deaths, too.
  const innocent = await stage.db.pool.query(`select max(deaths) as deaths from steps where session_id = $1`, [
    neighbouring.id,
  ])
  expect(innocent.rows).toEqual([{ deaths: expect.toSatisfy((deaths: number) => deaths < TAKERS) }])
  // Each death is reported by a line that names the step.
  const deaths = said.split('\n').filter((line) => line.includes(`${session.id}/0/${key}/`))
  expect(deaths).toHaveLength(3)
  for (const line of deaths) expect(line).toMatch(/^stello: .* has stood still for 3 s\. In hand: .* is killed/)
  return { session, file }
}

it('a repeatable tool that blocks the loop ends as an error that the model reads', async () => {
  const { session } = await swallow({ word: 'scan', key: 't1.0.0', name: 'scan', kind: 'tool' })
  expect((await session.turn('poison').result()).text).toBe('done after 1')
  expect((await session.transcript())[2]?.content).toMatch(
    /^TOOL_WORKER_LOST: its worker died 3 times while "scan" ran/,
  )
})

it('a tool that must not be repeated, and that also blocks when it has to verify, ends as unknown', async () => {
  const { session } = await swallow({ word: 'seal', key: 't1.0.0', name: 'seal', kind: 'tool' })
  expect((await session.turn('poison').result()).text).toBe('done after 1')
  expect((await session.transcript())[2]?.content).toMatch(/^TOOL_OUTCOME_UNKNOWN/)
})

it('a model call that blocks the loop pauses the session, and is made once more after a resume', async () => {
  const { session, file } = await swallow({ word: 'choke', key: 'm1.0', name: 'fake', kind: 'model' })
  const result = session.turn('poison').result({ onPause: 'throw' })
  await expect(result).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
  expect((await session.state()).pause).toMatchObject({ reason: 'agent_error' })
  writeFileSync(file, '')
  await session.resume()
  expect((await session.turn('poison').result()).text).toMatch(/^answer to choke/)
})
