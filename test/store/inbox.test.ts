/**
 * What waits for a person in a tree, and which sessions it holds up: only those that wait for it, through any number of
 * calls.
 */
import { describe, expect, it } from 'vitest'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { readHoldups, readInbox } from '../../src/store/watching/inbox.ts'
import { agentKey, agentOrigin, callOrigin, openingKey } from '../../src/protocol/keys.ts'
import { parkStep, reopenStep } from '../../src/store/ledger/parked.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import type { StepId } from '../../src/store/ledger/claim.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { listSessions } from '../../src/store/sessions/sessions.ts'
import { someEvent, newId, newSessionRow, openSession, opening, placeAt, take, NEW_RUN } from './fixtures.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
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
    origin: callOrigin({ sessionId: parentId, key, inputHash: hash }),
  })
  await settleStep(at.db, step, {
    outcome: {},
    writes: { child: { ...child, records: [] }, waiting: { key, name: 'new_task' } },
  })
  const run: RunRef = { ...NEW_RUN, sessionId: child.sessionId, runId: 'run-1', gen: 0, turn: 1, place: placeAt(0) }
  await resolveRun(at.db, run)
  return run
}

/** An agent that the call has spawned, and that nobody waits for yet. */
async function agent(parent: RunRef, nth: number): Promise<RunRef> {
  const { sessionId: parentId } = parent
  const origin = agentOrigin({ sessionId: parentId, key: agentKey(KEY, nth), inputHash: 'hash' }, { notifies: false })
  return openSession(at.db, newSessionRow({ rootId: parentId, parentId, depth: 1, origin }))
}

/** Another call begins to wait for agents, as `Task` and `wait-agent` do. */
async function awaitAgents(parent: RunRef, key: string, agents: RunRef[]): Promise<StepId> {
  const step = await take(at.db, parent, { key, kind: 'tool' })
  await reopenStep(at.db, step, { writes: {}, awaits: agents.map(({ sessionId }) => sessionId) })
  return step
}

async function pause(run: RunRef): Promise<void> {
  const events = [someEvent({ key: 'a1.0', at: { told: 1 }, type: 'session.paused', data: PAUSE })]
  await announceFacts(at.db, run, { key: 'a1', writes: { pause: PAUSE, events } })
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
    await parkStep(at.db, step, { question: { ...question, preview: '{}', message: 'did it?' } })
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

  it('is an agent that a call waits for, whichever call has spawned it', async () => {
    const root = await openSession(at.db)
    const [awaited, aside] = [await agent(root, 0), await agent(root, 1)]
    for (const run of [awaited, aside]) await pause(run)
    expect(await holders(root)).toBeUndefined()
    await awaitAgents(root, 't2.0.0', [awaited])
    expect(await holders(root)).toEqual([`${awaited.sessionId} paused`])
  })

  it('is no agent of a call that runs again, asks a person itself, or has ended', async () => {
    const root = await openSession(at.db)
    const child = await agent(root, 0)
    await pause(child)
    await awaitAgents(root, KEY, [child])
    const again = await take(at.db, root, { key: KEY, kind: 'tool' })
    expect(await holders(root)).toBeUndefined()
    const question = { id: `${KEY}@0.3`, kind: 'approval', name: 'pay', callId: 'c', turn: 1, round: 0 } as const
    await parkStep(at.db, again, { question: { ...question, preview: '{}', message: 'may it?' } })
    expect(await holders(root)).toEqual([`${root.sessionId} approval`])
    await reopenStep(at.db, again, { writes: {} })
    expect(await holders(root)).toBeUndefined()
    await awaitAgents(root, KEY, [child])
    await at.db.pool.query(`update steps set outcome = '{}' where session_id = $1`, [root.sessionId])
    expect(await holders(root)).toBeUndefined()
  })

  it('is nothing any more when the pause is lifted, or the session closed', async () => {
    const root = await openSession(at.db)
    const child = await awaits(root)
    await pause(child)
    await announceFacts(at.db, child, { key: 'a2', writes: { pause: null } })
    expect(await holders(root)).toBeUndefined()
    await announceFacts(at.db, child, { key: 'a3', writes: { pause: PAUSE } })
    expect(await holders(root)).toHaveLength(1)
    await announceFacts(at.db, child, { key: 'a4', writes: { closed: true } })
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
    // Times in the inbox have milliseconds: two pauses may have the same.
    await at.db.pool.query(`update events set at = at - interval '1 second' where session_id = $1`, [one.sessionId])
    await pause(two)
    const ids = [one.sessionId, two.sessionId]
    const shown = async (): Promise<string[]> => (await readInbox(at.db, ids)).map(({ sessionId }) => sessionId)
    expect(await shown()).toEqual(ids)
    await announceFacts(at.db, one, { key: 'a2', writes: { closed: true } })
    expect(await shown()).toEqual([two.sessionId])
    expect((await readInbox(at.db)).map(({ sessionId }) => sessionId)).toContain(two.sessionId)
  })
})
