/**
 * A workflow starts for a session that has a past. Whichever of its activities comes first, the store makes the same of
 * its run.
 */
import { expect, it } from 'vitest'
import { announce } from '../../src/activities/session/announce.ts'
import type { AnnounceOutcome } from '../../src/protocol/announcements.ts'
import { announceFacts } from '../../src/store/announce-facts.ts'
import { lastSeq } from '../../src/store/records.ts'
import type { RunRef } from '../../src/store/abandon-future.ts'
import { settleStep } from '../../src/store/settle.ts'
import { listSessions } from '../../src/store/sessions.ts'
import { lastTurn, readTurnNow } from '../../src/store/turns.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { attempt, depsOf } from './activity.ts'
import { someEvent, openSession, opening, take, userRecord } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { readEvents } from '../support/events.ts'

const at = useDatabase()

/** One turn, two records. */
async function withPast(): Promise<RunRef> {
  const run = await openSession(at.db)
  const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
  const turns = [{ turn: 1, stopReason: 'end_turn', text: 'done', rounds: 0 } as const]
  await settleStep(at.db, step, { kind: 'answered', gen: 0 }, { records: [userRecord(2)], turns })
  return run
}

/** The first announcement of a workflow that was started anew, as an activity of the run `runId`. */
function firstAnnouncement(run: RunRef, fresh: string, runId: string): Promise<AnnounceOutcome> {
  const events = [{ type: 'answer.rejected' as const, data: { reason: 'nothing waits' } }]
  const place = { seq: 0, told: 0 }
  const input = { sessionId: run.sessionId, fresh, key: 'a1', gen: 0, turn: 0, base: 0, place, told: 1, events }
  const deps = depsOf(at.db, { llm: scriptedModel([]) })
  return attempt({ ...run, runId }, () => announce(deps, input))
}

const typesOf = async ({ sessionId }: RunRef): Promise<string[]> =>
  (await readEvents(at.db, sessionId, 0)).map(({ type }) => type)

it('goes on where the store ends, although the store hears of an announcement first', async () => {
  const run = await withPast()
  expect(await firstAnnouncement(run, 'run-2', 'run-2')).toEqual({ gen: 1, children: [] })
  expect(await typesOf(run)).toEqual(['turn.started', 'session.restarted', 'answer.rejected'])
  expect([await lastSeq(at.db, run.sessionId, 1), await lastTurn(at.db, run.sessionId, 1)]).toEqual([2, 1])
})

it.each([
  ['is still paused', 'user', 'paused'],
  ['is still paused', 'model_error', 'paused'],
  ['is not paused any more', 'store_error', 'idle'],
  ['is not paused any more', 'agent_error', 'idle'],
] as const)('%s when the reason was %s', async (_what, reason, state) => {
  const run = await withPast()
  const events = [someEvent({ key: 'a1.0', at: { told: 1 }, type: 'session.paused' })]
  await announceFacts(at.db, run, 'a1', { pause: { reason, message: 'why' }, events })
  await firstAnnouncement(run, 'run-2', 'run-2')
  expect(await listSessions(at.db, { ids: [run.sessionId] })).toMatchObject([{ state }])
})

it('is rewound when a reset repeats what a started run had asked for', async () => {
  const run = await withPast()
  await firstAnnouncement(run, 'run-2', 'run-3')
  expect(await typesOf(run)).toContain('session.rewound')
})

it('does not hide an answer behind the close, when the answered message was sent again and waits', async () => {
  const run = await withPast()
  await firstAnnouncement(run, 'run-2', 'run-2')
  const close = { cascade: false, limit: 100, messages: [{ messageId: 'a' }, { messageId: 'b' }] }
  const at2 = { sessionId: run.sessionId, gen: 1, turn: 1, base: 2, place: { seq: 2, told: 1 } }
  const input = { ...at2, key: 'a2', told: 2, events: [], close }
  await attempt({ ...run, runId: 'run-2' }, () => announce(depsOf(at.db, { llm: scriptedModel([]) }), input))
  const turnOf = async (id: string): Promise<unknown> => (await readTurnNow(at.db, run.sessionId, id))?.turn
  expect(await turnOf('a')).toMatchObject({ stopReason: 'end_turn', text: 'done' })
  expect(await turnOf('b')).toMatchObject({ stopReason: 'closed', text: '' })
})
