/** A worker is killed while a conversation is summarised, or right after. The summary is paid once. */
import { afterEach, expect, it } from 'vitest'
import type { SessionHandle, StelloEvent, TurnHandle } from '../../src/client/index.ts'
import { StelloError } from '../../src/core/errors.ts'
import type { ScriptFunction } from '../../src/testing/index.ts'
import { useCrashStage } from '../support/crash-stage.ts'

const LONG = 'with so many words that every message takes its room in the window of the model '.repeat(5)
const WINDOW = 2500
const SUMMARY = 'A summary.'

const script: ScriptFunction = ({ messages }) => {
  const tokens = Math.ceil(JSON.stringify(messages).length / 4)
  if (tokens > WINDOW) throw new StelloError('MODEL_CONTEXT_TOO_LONG', 'maximum context length exceeded')
  const summary = messages[0]?.content.startsWith('You write the memory')
  return { content: summary ? SUMMARY : 'fine', usage: { inputTokens: tokens, outputTokens: 1 } }
}

const stage = useCrashStage({ script })
const settings = { compaction: { window: WINDOW } }

const isSummary = (body: unknown): boolean => JSON.stringify(body).includes('You write the memory')
const paid = (): number => stage.fake.requests.filter(({ body }) => isSummary(body)).length

/** The messages have more text than the window has room for, and each waits for the one before. */
async function talk(session: SessionHandle): Promise<TurnHandle[]> {
  const turns: TurnHandle[] = []
  for (let n = 1; n <= 24; n++) turns.push(await session.send(`${n} ${LONG}`))
  return turns
}

/** Every turn is answered, and each summary that is told was paid once. @returns what was paid beyond that */
async function paidTwice(session: SessionHandle, turns: TurnHandle[], before: number): Promise<number> {
  for (const turn of turns) expect((await turn.result()).text).toBe('fine')
  const told = (await eventsOf(session)).filter(({ type }) => type === 'transcript.compacted')
  expect(told.length).toBeGreaterThan(0)
  expect((await session.summary())?.cut).toBe(false)
  return paid() - before - told.length
}

async function eventsOf(session: SessionHandle): Promise<StelloEvent[]> {
  const { rows } = await stage.db.pool.query<StelloEvent>('select type from events where session_id = $1', [session.id])
  return rows
}

afterEach(() => stage.killWorkers())

it.each([
  ['before its summary is stored: it is asked for once more', 'lost', 1],
  ['when its summary is stored and nobody was told: it is not asked for again', 'kept', 0],
] as const)('a worker dies %s', async (_when, end, twice) => {
  const before = paid()
  const worker = await stage.startWorker(settings)
  const session = await stage.session()
  const hold = await stage.holds.hold({ session: session.id, step: 'c1', moment: 'settle' })
  const turns = await talk(session)
  await hold.reached()
  await worker.kill()
  await (end === 'kept' ? hold.letThrough() : hold.drop())
  await stage.startWorker(settings)
  expect(await paidTwice(session, turns, before)).toBe(twice)
})

it('a worker dies between the summary and the end of the call that needed it: only the call is asked again', async () => {
  const before = paid()
  const worker = await stage.startWorker(settings)
  const session = await stage.session()
  const held = stage.fake.hold(({ body }) => !isSummary(body) && JSON.stringify(body).includes(SUMMARY))
  const turns = await talk(session)
  await held.reached
  await worker.kill()
  held.release()
  await stage.startWorker(settings)
  expect(await paidTwice(session, turns, before)).toBe(0)
})

it('a worker dies while a model summarises: it is asked again', async () => {
  const before = paid()
  const worker = await stage.startWorker(settings)
  const session = await stage.session()
  const held = stage.fake.hold(({ body }) => isSummary(body))
  const turns = await talk(session)
  await held.reached
  await worker.kill()
  held.release()
  await stage.startWorker(settings)
  expect(await paidTwice(session, turns, before)).toBe(1)
})
