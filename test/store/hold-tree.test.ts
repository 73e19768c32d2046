/** A tree is paused while it grows: the second of the two finds the first. */
import { describe, expect, it } from 'vitest'
import { announce } from '../../src/activities/session/announce.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { holdTree, openInTree, releaseTree } from '../../src/store/sessions/hold-tree.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { type RunRef } from '../../src/store/ledger/abandon-future.ts'
import { readSession } from '../../src/store/sessions/session-row.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { readEvents } from '../support/events.ts'
import { interleaved } from '../support/interleaved.ts'
import { attempt, depsOf } from './activity.ts'
import { NEW_RUN, claim, newId, newSessionRow, openSession, placeAt, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const PAUSE = { reason: 'user', message: 'lunch' } as const

const child = (parent: RunRef, id = newId()) =>
  newSessionRow({ sessionId: id, rootId: parent.sessionId, parentId: parent.sessionId, depth: 1 })
const pauseOf = async (sessionId: string): Promise<unknown> => (await readSession(at.db, sessionId))?.pause
const typesOf = async (sessionId: string): Promise<string[]> =>
  (await readEvents(at.db, sessionId, 0)).map(({ type }) => type)
const fork = async (parent: RunRef, id = newId(), key = 't1.0.0'): Promise<string> => {
  const step = await take(at.db, parent, { key, kind: 'child' })
  await settleStep(at.db, step, { outcome: {}, writes: { child: { ...child(parent, id), records: [] } } })
  return id
}
const INSERT = `insert into sessions (id, root_id, parent_id, depth, agent, label, config)
                values ($1, $2, $2, 1, 'test', 'just made', '{}')`

describe('a tree that is paused', () => {
  it('lets everything that is forked in it begin paused, by a step that was begun before, and by a client', async () => {
    const root = await openSession(at.db)
    const begun = await take(at.db, root, { key: 't1.0.0', kind: 'child' })
    await holdTree(at.db, root.sessionId, PAUSE)
    const [ofStep, ofClient] = [child(root), child(root)]
    await settleStep(at.db, begun, { outcome: {}, writes: { child: { ...ofStep, records: [] } } })
    await createSession(at.db, ofClient)
    for (const { sessionId } of [ofStep, ofClient]) {
      expect(await pauseOf(sessionId)).toEqual(PAUSE)
      expect(await typesOf(sessionId)).toEqual(['session.paused'])
    }
    // And so does what is forked from these.
    const run = { ...NEW_RUN, sessionId: ofStep.sessionId, runId: 'run-1', gen: 0, turn: 1, place: placeAt(0) }
    await resolveRun(at.db, run)
    expect(await claim(at.db, run)).toEqual({ kind: 'paused' })
    const below = newSessionRow({ rootId: root.sessionId, parentId: ofStep.sessionId, depth: 2 })
    await createSession(at.db, below)
    expect(await pauseOf(below.sessionId)).toEqual(PAUSE)
  })

  it('reaches a child that is just being made, and one that no run has opened', async () => {
    const root = await openSession(at.db)
    const [unopened, id] = [child(root), newId()]
    await createSession(at.db, unopened)
    await interleaved(at.db, [INSERT, [id, root.sessionId]], () => holdTree(at.db, root.sessionId, PAUSE))
    expect([await pauseOf(id), await pauseOf(unopened.sessionId)]).toEqual([PAUSE, PAUSE])
    expect(await pauseOf(root.sessionId)).toBeUndefined()
    const below = newSessionRow({ rootId: root.sessionId, parentId: id, depth: 2 })
    await createSession(at.db, below)
    expect(await pauseOf(below.sessionId)).toEqual(PAUSE)
  })

  it('that is marked first reaches the child that waits for the mark', async () => {
    const root = await openSession(at.db)
    const mark = `update sessions set pauses_forks = '${JSON.stringify(PAUSE)}' where id = $1`
    const id = newId()
    await interleaved(at.db, [mark, [root.sessionId]], () => fork(root, id))
    expect(await pauseOf(id)).toEqual(PAUSE)
  })

  it('leaves other trees, and what is closed, alone', async () => {
    const [root, other] = [await openSession(at.db), await openSession(at.db)]
    const closed = await openSession(at.db, child(root))
    await announceFacts(at.db, closed, { key: 'a1', writes: { closed: true } })
    await holdTree(at.db, root.sessionId, PAUSE)
    expect(await pauseOf(await fork(other))).toBeUndefined()
    expect(await pauseOf(closed.sessionId)).toBeUndefined()
    expect((await openInTree(at.db, root.sessionId)).map(({ id }) => id)).toEqual([root.sessionId])
  })
})

describe('a tree that is resumed', () => {
  it('lets sessions go on that no run has opened, and later forks begin as usual', async () => {
    const root = await openSession(at.db)
    await holdTree(at.db, root.sessionId, PAUSE)
    const early = await fork(root)
    await releaseTree(at.db, root.sessionId)
    expect(await pauseOf(early)).toBeUndefined()
    expect(await typesOf(early)).toEqual(['session.paused', 'session.resumed'])
    expect(await pauseOf(await fork(root, newId(), 't1.0.1'))).toBeUndefined()
  })

  it('reaches a child that is just being made', async () => {
    const root = await openSession(at.db)
    await holdTree(at.db, root.sessionId, PAUSE)
    const id = newId()
    await interleaved(at.db, [INSERT, [id, root.sessionId]], () => releaseTree(at.db, root.sessionId))
    expect(await pauseOf(id)).toBeUndefined()
  })

  it.each([
    ['that goes on by itself still forks as the tree was paused', { tries: 1 }, PAUSE],
    ['that a person resumes forks as usual', {}, undefined],
  ])('leaves a session %s', async (_who, data, paused) => {
    const root = await openSession(at.db)
    const deps = depsOf(at.db, { llm: scriptedModel([]) })
    await announceFacts(at.db, root, { key: 'a1', writes: { pause: { reason: 'model_error', message: 'away' } } })
    await holdTree(at.db, root.sessionId, PAUSE)
    const { sessionId, place, turn } = root
    const input = { sessionId, key: 'a2', told: 2, gen: 0, turn, base: 0, place, pause: null }
    await attempt(root, () => announce(deps, { ...input, events: [{ type: 'session.resumed', data }] }))
    expect(await pauseOf(sessionId)).toBeUndefined()
    expect(await pauseOf(await fork(root))).toEqual(paused)
  })

  it('also if only one of its sessions is resumed: that session forks as usual', async () => {
    const root = await openSession(at.db)
    await holdTree(at.db, root.sessionId, PAUSE)
    await announceFacts(at.db, root, { key: 'a1', writes: { pause: PAUSE } })
    await announceFacts(at.db, root, { key: 'a2', writes: { pause: null } })
    expect(await pauseOf(await fork(root))).toBeUndefined()
  })
})
