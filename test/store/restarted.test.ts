/**
 * A workflow starts for a session that has a past. Whichever of its activities comes first, the store makes the same of
 * its run.
 */
import { expect, it } from 'vitest'
import { openSession as openWorkflow } from '../../src/activities/session/open-session.ts'
import { OPEN_KEY } from '../../src/protocol/keys.ts'
import type { OpenSessionOutcome } from '../../src/protocol/steps.ts'
import { announce } from '../../src/activities/session/announce.ts'
import type { AnnounceInput, AnnounceOutcome } from '../../src/protocol/announcements.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { lastSeq } from '../../src/store/transcript/records.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { listSessions } from '../../src/store/sessions/sessions.ts'
import { reopenAgent } from '../../src/store/sessions/agent-sessions.ts'
import type { NewSessionRow } from '../../src/store/ledger/writes.ts'
import { lastTurn, readTurnNow } from '../../src/store/transcript/turns.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { attempt, depsOf } from './activity.ts'
import { someEvent, openSession, opening, take, userRecord } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { readEvents } from '../support/events.ts'

const at = useDatabase()

/** One turn, two records. */
async function withPast(row: Partial<NewSessionRow> = {}): Promise<RunRef> {
  const run = await openSession(at.db, row)
  const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
  const turns = [{ turn: 1, stopReason: 'end_turn', text: 'done', rounds: 0 } as const]
  await settleStep(at.db, step, { outcome: { kind: 'answered', gen: 0 }, writes: { records: [userRecord(2)], turns } })
  return run
}

/** The first announcement of a workflow that was started anew, as an activity of the run `runId`. */
function firstAnnouncement(
  run: RunRef,
  fresh: string,
  runId: string,
  more: Partial<AnnounceInput> = {},
): Promise<AnnounceOutcome> {
  const events = [{ type: 'answer.rejected' as const, data: { reason: 'nothing waits' } }]
  const place = { seq: 0, told: 0 }
  const input = {
    sessionId: run.sessionId,
    fresh,
    key: 'a1',
    gen: 0,
    turn: 0,
    base: 0,
    place,
    told: 1,
    events,
    ...more,
  }
  const deps = depsOf(at.db, { llm: scriptedModel([]) })
  return attempt({ ...run, runId }, () => announce(deps, input))
}

const typesOf = async ({ sessionId }: RunRef): Promise<string[]> =>
  (await readEvents(at.db, sessionId, 0)).map(({ type }) => type)

it('goes on where the store ends, although the store hears of an announcement first', async () => {
  const run = await withPast()
  expect(await firstAnnouncement(run, 'run-2', 'run-2')).toEqual({ gen: 1, children: [] })
  expect(await typesOf(run)).toEqual(['turn.started', 'session.restarted', 'answer.rejected'])
  expect([
    await lastSeq(at.db, { sessionId: run.sessionId, gen: 1 }),
    await lastTurn(at.db, { sessionId: run.sessionId, gen: 1 }),
  ]).toEqual([2, 1])
})

it.each([
  ['is still paused', 'user', 'paused'],
  ['is still paused', 'model_error', 'paused'],
  ['is not paused any more', 'store_error', 'idle'],
  ['is not paused any more', 'agent_error', 'idle'],
] as const)('%s when the reason was %s', async (_what, reason, state) => {
  const run = await withPast()
  const events = [someEvent({ key: 'a1.0', at: { told: 1 }, type: 'session.paused' })]
  await announceFacts(at.db, run, { key: 'a1', writes: { pause: { reason, message: 'why' }, events } })
  await firstAnnouncement(run, 'run-2', 'run-2')
  expect(await listSessions(at.db, { ids: [run.sessionId] })).toMatchObject([{ state }])
})

const closing = (...ids: string[]) => ({ messages: ids.map((messageId) => ({ messageId })), cascade: false })

it.each(['first', 'next'])(
  'keeps an answer of before when its %s announcement closes a message sent again',
  async (which) => {
    const run = await withPast()
    const close = closing('a', 'b')
    if (which === 'first') await firstAnnouncement(run, 'run-2', 'run-2', { close })
    else {
      await firstAnnouncement(run, 'run-2', 'run-2')
      const { sessionId } = run
      const place = { seq: 2, told: 1 }
      const input = { sessionId, key: 'a2', gen: 1, turn: 1, base: 2, place, told: 2, events: [], close }
      const deps = depsOf(at.db, { llm: scriptedModel([]) })
      await attempt({ ...run, gen: 1, runId: 'run-2' }, () => announce(deps, input))
    }
    expect((await readTurnNow(at.db, run.sessionId, 'a'))?.turn).toMatchObject({ gen: 0, text: 'done' })
    expect((await readTurnNow(at.db, run.sessionId, 'b'))?.turn).toMatchObject({ gen: 1, stopReason: 'closed' })
  },
)

it('still tells of a message that was closed with the agent, after the agent was opened again', async () => {
  const parent = await openSession(at.db)
  const run = await withPast({ rootId: parent.sessionId, parentId: parent.sessionId, depth: 1 })
  const { sessionId } = run
  const place = { seq: 2, told: 0 }
  const input = { sessionId, key: 'a1', gen: 0, turn: 1, base: 2, place, told: 1, events: [], close: closing('b') }
  await attempt(run, () => announce(depsOf(at.db, { llm: scriptedModel([]) }), input))
  expect(await reopenAgent(at.db, sessionId, parent.sessionId)).toBe(true)
  await firstAnnouncement(run, 'run-2', 'run-2')
  expect((await readTurnNow(at.db, sessionId, 'b'))?.turn).toMatchObject({ gen: 0, stopReason: 'closed' })
})

/** What the opening of a workflow finds that was started anew. */
function opened({ sessionId, ...run }: RunRef, runId: string): Promise<OpenSessionOutcome> {
  const input = { sessionId, fresh: runId, key: OPEN_KEY, gen: 0, turn: 0, base: 0, place: { seq: 0, told: 0 } }
  const deps = depsOf(at.db, { llm: scriptedModel([]) })
  return attempt({ ...run, sessionId, runId }, () => openWorkflow(deps, input))
}

it('takes up the turn that was open, also if the workflow that was to take it up was lost before it began', async () => {
  const run = await withPast()
  await take(at.db, run, { key: 'm2.0', opening: opening(2, 'b', 3) })
  const found = { kind: 'opened', seq: 2, turn: 1, unanswered: 'b' }
  for (const runId of ['run-2', 'run-3', 'run-4']) expect(await opened(run, runId)).toMatchObject(found)
})

it('does not take up a turn again that a later workflow has ended, or taken up', async () => {
  const run = await withPast()
  await take(at.db, run, { key: 'm2.0', opening: opening(2, 'b', 3) })
  await opened(run, 'run-2')
  const again = { ...run, runId: 'run-2', gen: 1, turn: 2, place: { seq: 2, told: 0 } }
  const step = await take(at.db, again, { key: 'm2.0', inputHash: 'anew', opening: opening(2, 'b', 3) })
  expect(await opened(run, 'run-3')).toMatchObject({ seq: 2, turn: 1, unanswered: 'b' })
  const turns = [{ turn: 2, stopReason: 'end_turn', text: 'done', rounds: 0 } as const]
  const third = { ...run, runId: 'run-3', gen: 2, turn: 2, place: { seq: 2, told: 0 } }
  const last = await take(at.db, third, { key: 'm2.0', inputHash: 'once more', opening: opening(2, 'b', 3) })
  expect([step.gen, last.gen]).toEqual([1, 2])
  await settleStep(at.db, last, { outcome: { kind: 'answered', gen: 2 }, writes: { records: [userRecord(4)], turns } })
  expect(await opened(run, 'run-4')).toEqual(expect.not.objectContaining({ unanswered: 'b' }))
})

it('does not take up a message that a workflow in between has closed', async () => {
  const parent = await openSession(at.db)
  const run = await withPast({ rootId: parent.sessionId, parentId: parent.sessionId, depth: 1 })
  await take(at.db, run, { key: 'm2.0', opening: opening(2, 'b', 3) })
  await firstAnnouncement(run, 'run-2', 'run-2', { close: closing('b') })
  expect(await reopenAgent(at.db, run.sessionId, parent.sessionId)).toBe(true)
  expect(await opened(run, 'run-3')).toEqual(expect.not.objectContaining({ unanswered: 'b' }))
})

it('is rewound when a reset repeats what a started run had asked for', async () => {
  const run = await withPast()
  await firstAnnouncement(run, 'run-2', 'run-3')
  expect(await typesOf(run)).toContain('session.rewound')
})
