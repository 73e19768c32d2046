/**
 * What waits for a person in a tree, and which sessions it holds up: only those that wait for it, through any number of
 * calls.
 */
import { describe, expect, it } from 'vitest'
import { announceFacts } from '../../src/store/announce-facts.ts'
import { readHoldups, readInbox } from '../../src/store/inbox.ts'
import { callOrigin, openingKey } from '../../src/protocol/keys.ts'
import { parkStep } from '../../src/store/parked.ts'
import type { RunRef } from '../../src/store/abandon-future.ts'
import { settleStep } from '../../src/store/settle.ts'
import { listSessions } from '../../src/store/sessions.ts'
import { someEvent, newId, newSessionRow, openSession, opening, placeAt, take, NEW_RUN } from './fixtures.ts'
import { resolveRun } from '../../src/store/runs.ts'
import { countStatements, useDatabase } from './postgres.ts'

const at = useDatabase()
const PAUSE = { reason: 'model_error', message: 'the key is wrong' } as const
const KEY = 't1.0.0'

/** Begins a turn in which a call awaits a child, as `new_task` does. */
async function awaits(parent: RunRef, { key = KEY, hash = 'hash', root = parent.sessionId } = {}): Promise<RunRef> {
  const { sessionId: parentId } = parent
  await take(at.db, parent, { key: `m-${key}`, opening: opening(1, `message ${key}`, 1) }).catch(() => undefined)
  const step = await take(at.db, parent, { key: openingKey(key), kind: 'child', inputHash: hash })
  const child = newSessionRow({
    sessionId: newId(),
    rootId: root,
    parentId,
    depth: 1,
    origin: callOrigin(parentId, key, hash),
  })
  await settleStep(at.db, step, {}, { child: { ...child, records: [] }, waiting: { key, name: 'new_task' } })
  const run: RunRef = { ...NEW_RUN, sessionId: child.sessionId, runId: 'run-1', gen: 0, turn: 1, place: placeAt(0) }
  await resolveRun(at.db, run)
  return run
}

async function pause(run: RunRef): Promise<void> {
  const events = [someEvent({ key: 'a1.0', at: { told: 1 }, type: 'session.paused', data: PAUSE })]
  await announceFacts(at.db, run, 'a1', { pause: PAUSE, events })
}

const holders = async ({ sessionId }: RunRef): Promise<string[] | undefined> =>
  (await readHoldups(at.db, [sessionId])).get(sessionId)?.map((item) => `${item.sessionId} ${item.kind}`)

describe('what holds a session up', () => {
  it('is a pause far below, through every call that waits', async () => {
    const root = await openSession(at.db)
    const one = await awaits(root)
    const two = await awaits(one, { root: root.sessionId })
    await pause(two)
    for (const run of [root, one, two]) expect(await holders(run)).toEqual([`${two.sessionId} paused`])
    const [item] = (await readHoldups(at.db, [root.sessionId])).get(root.sessionId) ?? []
    expect(item).toMatchObject({ ...PAUSE, kind: 'paused', label: 'a session', agent: 'test', at: expect.any(String) })
  })

  it('is a question too; pauses come first', async () => {
    const root = await openSession(at.db)
    const [asking, paused] = [await awaits(root), await awaits(root, { key: 't1.0.1', hash: 'other' })]
    const step = await take(at.db, asking, { key: 't1.0.0', kind: 'tool' })
    const question = { id: 't1.0.0@0.1', kind: 'unknown_outcome', name: 'pay', callId: 'c', turn: 1, round: 0 } as const
    await parkStep(at.db, step, { ...question, preview: '{}', message: 'did it?' })
    await pause(paused)
    expect(await holders(root)).toEqual([`${paused.sessionId} paused`, `${asking.sessionId} unknown_outcome`])
  })

  it('is no session that it does not wait for: a fork, one whose call has ended, one of an abandoned call', async () => {
    const root = await openSession(at.db)
    const fork = await openSession(at.db, newSessionRow({ rootId: root.sessionId, parentId: root.sessionId, depth: 1 }))
    const ended = await awaits(root)
    const abandoned = await awaits(root, { key: 't1.0.1', hash: 'abandoned' })
    for (const run of [fork, ended, abandoned]) await pause(run)
    await at.db.pool.query(`update steps set outcome = '{}' where session_id = $1 and step_key = $2`, [
      root.sessionId,
      KEY,
    ])
    await at.db.pool.query(`update steps set input_hash = 'anew' where session_id = $1 and step_key = 't1.0.1.open'`, [
      root.sessionId,
    ])
    expect(await holders(root)).toBeUndefined()
  })

  it('is nothing any more when the pause is lifted, or the session closed', async () => {
    const root = await openSession(at.db)
    const child = await awaits(root)
    await pause(child)
    await announceFacts(at.db, child, 'a2', { pause: null })
    expect(await holders(root)).toBeUndefined()
    await announceFacts(at.db, child, 'a3', { pause: PAUSE })
    expect(await holders(root)).toHaveLength(1)
    await announceFacts(at.db, child, 'a4', { closed: true })
    expect(await holders(root)).toBeUndefined()
  })

  it('is shown in the list of sessions, which takes two statements, however many sessions there are', async () => {
    const root = await openSession(at.db)
    const children = [await awaits(root), await awaits(root, { key: 't1.0.1', hash: 'other' })]
    for (const child of children) await pause(child)
    const ids = [root, ...children].map(({ sessionId }) => sessionId)
    let listed: Awaited<ReturnType<typeof listSessions>> = []
    expect(await countStatements(async () => (listed = await listSessions(at.db, { ids })))).toBe(2)
    const heldBy = new Map(listed.map((session) => [session.id, session.heldBy.map(({ sessionId }) => sessionId)]))
    expect(heldBy.get(root.sessionId)?.toSorted()).toEqual(ids.slice(1).toSorted())
    expect(heldBy.get(ids[1] ?? '')).toEqual([])
  })
})

describe('the inbox', () => {
  it('holds pauses beside questions, oldest first, while their sessions are open', async () => {
    const [one, two] = [await openSession(at.db), await openSession(at.db)]
    await pause(one)
    await pause(two)
    const ids = [one.sessionId, two.sessionId]
    const shown = async (): Promise<string[]> => (await readInbox(at.db, ids)).map(({ sessionId }) => sessionId)
    expect(await shown()).toEqual(ids)
    await announceFacts(at.db, one, 'a2', { closed: true })
    expect(await shown()).toEqual([two.sessionId])
    expect((await readInbox(at.db)).map(({ sessionId }) => sessionId)).toContain(two.sessionId)
  })
})
