/** A statement that had to wait for another one acts on what was committed meanwhile. */
import { expect, it } from 'vitest'
import { reopenAgent } from '../../src/store/sessions/agent-sessions.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { holdTree, openInTree, releaseTree } from '../../src/store/sessions/hold-tree.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { readSession } from '../../src/store/sessions/session-row.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { forgetSession } from '../../src/store/sessions/unopened.ts'
import type { NewSessionRow } from '../../src/store/ledger/writes.ts'
import { readEvents } from '../support/events.ts'
import { holdWriters, interleaved, untilWaiting } from '../support/interleaved.ts'
import {
  OTHER_OWNER,
  claim,
  newId,
  newSessionRow,
  openSession,
  overtaken,
  resetRun,
  take,
  userRecord,
} from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const PAUSE = { reason: 'user', message: 'lunch' } as const
const MARK = `update sessions set pauses_forks = '${JSON.stringify(PAUSE)}' where id = $1`
const INSERT = `insert into sessions (id, root_id, parent_id, depth, agent, label, config)
                values ($1, $2, $2, 1, 'test', 'just made', '{}')`

const childOf = ({ sessionId }: Pick<RunRef, 'sessionId'>): NewSessionRow =>
  newSessionRow({ rootId: sessionId, parentId: sessionId, depth: 1 })
const pauseOf = async (sessionId: string): Promise<unknown> => (await readSession(at.db, sessionId))?.pause
/** A child that is closed. */
async function closedChild(root: RunRef): Promise<RunRef> {
  const child = await openSession(at.db, childOf(root))
  await announceFacts(at.db, child, { key: 'a1', writes: { closed: true } })
  return child
}

it('a claim that waits for the end of its step gets the whole outcome', async () => {
  const run = resetRun(await openSession(at.db), 'run-2', 0)
  await resolveRun(at.db, run)
  const step = await take(at.db, run, { key: 't1.0.0', kind: 'tool' })
  const outcome = { kind: 'settled', gen: 1, isError: false, preview: 'done', durationMs: 0 }
  const message = { role: 'tool', toolCallId: 'c', name: 'tool', content: 'done' } as const
  const letGo = await holdWriters(at.db, run.sessionId)
  const settling = settleStep(at.db, step, { outcome, writes: { records: [{ ...userRecord(1), message }] } })
  await untilWaiting(at.db, 1)
  const claiming = claim(at.db, run, { key: 't1.0.0', kind: 'tool', owner: OTHER_OWNER })
  await letGo(2)
  expect([await settling, await claiming]).toEqual([{ won: true }, { kind: 'settled', gen: 1, outcome }])
})

it('a fork that waits for a run to take its parent over belongs to the tree', async () => {
  const root = await openSession(at.db)
  const child = childOf(root)
  await overtaken(at.db, root, () => createSession(at.db, child))
  expect((await openInTree(at.db, root.sessionId)).map(({ id }) => id)).toEqual([root.sessionId, child.sessionId])
})

it('an agent that is opened again in a tree that was just paused is paused', async () => {
  const root = await openSession(at.db)
  const { sessionId } = await closedChild(root)
  await interleaved(at.db, [MARK, [root.sessionId]], () => reopenAgent(at.db, sessionId, root.sessionId))
  expect(await pauseOf(sessionId)).toEqual(PAUSE)
  expect((await readEvents(at.db, sessionId, 0)).map(({ type }) => type)).toEqual(['session.paused'])
  const below = newSessionRow({ rootId: root.sessionId, parentId: sessionId, depth: 2 })
  await createSession(at.db, below)
  expect(await pauseOf(below.sessionId)).toEqual(PAUSE)
})

it('a session that closed while its tree was paused forks as usual when the tree was resumed', async () => {
  const root = await openSession(at.db)
  const child = await openSession(at.db, childOf(root))
  await holdTree(at.db, root.sessionId, PAUSE)
  await announceFacts(at.db, child, { key: 'a1', writes: { closed: true } })
  await releaseTree(at.db, root.sessionId)
  const below = newSessionRow({ rootId: root.sessionId, parentId: child.sessionId, depth: 2 })
  await createSession(at.db, below)
  expect(await pauseOf(below.sessionId)).toBeUndefined()
})

it('an agent that a person had paused with what it forks keeps both when it is opened again', async () => {
  const root = await openSession(at.db)
  const child = await openSession(at.db, childOf(root))
  await holdTree(at.db, child.sessionId, PAUSE)
  await announceFacts(at.db, child, { key: 'a1', writes: { pause: PAUSE } })
  await announceFacts(at.db, child, { key: 'a2', writes: { closed: true } })
  await reopenAgent(at.db, child.sessionId, root.sessionId)
  const below = newSessionRow({ rootId: root.sessionId, parentId: child.sessionId, depth: 2 })
  await createSession(at.db, below)
  expect([await pauseOf(child.sessionId), await pauseOf(below.sessionId)]).toEqual([PAUSE, PAUSE])
})

it('a closed session that is forked in a paused tree has a paused fork', async () => {
  const root = await openSession(at.db)
  const { sessionId } = await closedChild(root)
  await holdTree(at.db, root.sessionId, PAUSE)
  const below = newSessionRow({ rootId: root.sessionId, parentId: sessionId, depth: 2 })
  await createSession(at.db, below)
  expect(await pauseOf(below.sessionId)).toEqual(PAUSE)
  await releaseTree(at.db, root.sessionId)
  expect(await pauseOf(below.sessionId)).toBeUndefined()
})

it('an agent is opened again beside a statement that locks its tree in the order of ids', async () => {
  const root = await openSession(at.db, newSessionRow({ sessionId: `z-${newId()}` }))
  const child = await openSession(at.db, { ...childOf(root), sessionId: `a-${newId()}` })
  await announceFacts(at.db, child, { key: 'a1', writes: { closed: true } })
  const lock = (id: string): [string, string[]] => ['select from sessions where id = $1 for no key update', [id]]
  const tree = await at.db.pool.connect()
  await tree.query('begin')
  await tree.query(...lock(child.sessionId))
  const reopening = reopenAgent(at.db, child.sessionId, root.sessionId)
  await untilWaiting(at.db, 1)
  await tree.query(...lock(root.sessionId))
  await tree.query('commit')
  tree.release()
  expect(await reopening).toBe(true)
})

it('a root that is being forked is not forgotten', async () => {
  const { sessionId } = newSessionRow()
  await createSession(at.db, newSessionRow({ sessionId, rootId: sessionId }))
  expect(await interleaved(at.db, [INSERT, [newId(), sessionId]], () => forgetSession(at.db, sessionId))).toBe(false)
  expect(await readSession(at.db, sessionId)).toBeDefined()
})
