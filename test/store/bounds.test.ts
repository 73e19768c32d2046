/** The bounds of a tree: every child is counted once, whoever makes it, and there is never one too many. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_BOUNDS, type TreeBounds } from '../../src/protocol/limits.ts'
import { changeBounds, fixBounds, mayFork, readTree } from '../../src/store/sessions/bounds.ts'
import { readSession } from '../../src/store/sessions/session-row.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { readSubtree } from '../../src/store/sessions/tree.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import type { NewSessionRow } from '../../src/store/ledger/writes.ts'
import { newId, newSessionRow, openSession, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

const rootOf = (bounds: Partial<TreeBounds>): Promise<RunRef> => openSession(at.db, { bounds })

function childOf(run: RunRef, { rootId = run.sessionId, ...row }: Partial<NewSessionRow> = {}): NewSessionRow {
  return newSessionRow({ rootId, parentId: run.sessionId, depth: 1, ...row })
}

/** A session of a tree that may fork itself. */
const openChildOf = (run: RunRef): Promise<RunRef> => openSession(at.db, childOf(run))

/** Opens a child as the call of a model does. */
async function opens(run: RunRef, child: NewSessionRow, key = `t1.0.${newId()}`): Promise<void> {
  const step = await take(at.db, run, { key, kind: 'child' })
  await settleStep(at.db, step, {
    outcome: { kind: 'childOpened' },
    writes: { child: { ...child, origin: key, records: [] } },
  })
}

const codes = async (works: Promise<unknown>[]): Promise<Record<string, number>> => {
  const ended = (await Promise.allSettled(works)).map((each) =>
    each.status === 'fulfilled' ? 'opened' : String((each.reason as { code?: unknown }).code),
  )
  return Object.fromEntries([...new Set(ended)].map((code) => [code, ended.filter((each) => each === code).length]))
}

describe('a tree', () => {
  it('lets one session have no more children than it may have, also when many ask at once', async () => {
    const run = await rootOf({ maxChildren: 5 })
    const asked = Array.from({ length: 32 }, (_, n) =>
      n % 2 ? opens(run, childOf(run)) : createSession(at.db, childOf(run)),
    )
    expect(await codes(asked)).toEqual({ opened: 5, TREE_LIMIT: 27 })
    expect(await readSubtree(at.db, run.sessionId)).toHaveLength(6)
    expect(await readTree(at.db, run.sessionId)).toMatchObject({ sessions: 6 })
  })

  it('has no more sessions than it may have, also when many ask at once', async () => {
    const run = await rootOf({ maxSessions: 9 })
    const forks = await Promise.all([openChildOf(run), openChildOf(run), openChildOf(run)])
    const asked = [run, ...forks].flatMap((parent) =>
      Array.from({ length: 8 }, () => opens(parent, childOf(parent, { rootId: run.sessionId }))),
    )
    expect(await codes(asked)).toEqual({ opened: 5, TREE_LIMIT: 27 })
    expect(await readSubtree(at.db, run.sessionId)).toHaveLength(9)
  })

  it('counts a child that closed, and counts none twice', async () => {
    const run = await rootOf({ maxChildren: 1 })
    const child = childOf(run)
    await opens(run, child, 't1.0.0')
    await at.db.pool.query('update sessions set closed_at = now() where id = $1', [child.sessionId])
    const again = await take(at.db, run, { key: 't1.0.9', kind: 'child' })
    const adopted = { ...child, origin: 't1.0.0', records: [] }
    expect(await settleStep(at.db, again, { outcome: {}, writes: { child: adopted } })).toEqual({ won: true })
    await expect(opens(run, childOf(run))).rejects.toMatchObject({ code: 'TREE_LIMIT' })
    expect(await readTree(at.db, run.sessionId)).toMatchObject({ sessions: 2 })
  })

  it('keeps nothing of a fork that is refused, and says which bound it met and how to raise it', async () => {
    const run = await rootOf({ maxDepth: 1 })
    const child = await openChildOf(run)
    const deeper = childOf(child, { rootId: run.sessionId, depth: 2 })
    const refused = await opens(child, deeper).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      code: 'TREE_LIMIT',
      fate: 'model',
      message: expect.stringMatching(/maxDepth: 1.*`stello bounds [\w-]+ --max-depth N`/) as string,
    })
    expect(await readSession(at.db, deeper.sessionId)).toBeUndefined()
    await expect(mayFork(at.db, child.sessionId)).rejects.toEqual(refused)
    await mayFork(at.db, run.sessionId)
    expect(await readTree(at.db, child.sessionId)).toMatchObject({ rootId: run.sessionId, sessions: 2 })
  })

  it('keeps the bounds that a client stated when its agent completes them, and those that a client states later', async () => {
    const run = await rootOf({ maxDepth: 9 })
    await fixBounds(at.db, run.sessionId, DEFAULT_BOUNDS)
    expect((await readTree(at.db, run.sessionId))?.bounds).toEqual({ ...DEFAULT_BOUNDS, maxDepth: 9 })
    const child = await openChildOf(run)
    await changeBounds(at.db, child.sessionId, { maxChildren: 1 })
    await expect(mayFork(at.db, run.sessionId)).rejects.toMatchObject({ code: 'TREE_LIMIT' })
    await changeBounds(at.db, child.sessionId, { maxChildren: 2 })
    await opens(run, childOf(run))
    await fixBounds(at.db, run.sessionId, DEFAULT_BOUNDS)
    expect((await readTree(at.db, run.sessionId))?.bounds).toEqual({ maxDepth: 9, maxChildren: 2, maxSessions: 500 })
  })
})
