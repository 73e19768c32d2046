/** A cascade, and a tree that grows at the same moment: the second of the two finds the first. */
import { describe, expect, it } from 'vitest'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { announce } from '../../src/activities/session/announce.ts'
import { reopenAgent } from '../../src/store/sessions/agent-sessions.ts'
import { readSession } from '../../src/store/sessions/session-row.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { closeBelow } from '../../src/store/sessions/closing.ts'
import { configureSession, createSession } from '../../src/store/sessions/sessions.ts'
import { DEFAULT_LIMITS } from '../../src/protocol/limits.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { attempt, depsOf } from './activity.ts'
import { interleaved } from '../support/interleaved.ts'
import { claim, newId, newSessionRow, openSession, resetRun, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

const child = (parent: RunRef, id = newId()) =>
  newSessionRow({ sessionId: id, rootId: parent.sessionId, parentId: parent.sessionId, depth: 1 })
const open = (parent: RunRef, id?: string): Promise<RunRef> => openSession(at.db, child(parent, id))
const close = async (run: RunRef): Promise<void> => {
  await announceFacts(at.db, run, { key: 'a1', writes: { closing: true } })
  await closeBelow(at.db, run.sessionId)
}
const fork = async (parent: RunRef, id?: string): Promise<unknown> => {
  const step = await take(at.db, parent, { key: 't1.0.0', kind: 'child' })
  return settleStep(at.db, step, { outcome: {}, writes: { child: { ...child(parent, id), records: [] } } })
}
const isClosing = async ({ sessionId }: Pick<RunRef, 'sessionId'>): Promise<boolean | undefined> =>
  (await readSession(at.db, sessionId))?.closing

describe('a cascade', () => {
  it('lets nothing begin in the session and below it, at any depth', async () => {
    const root = await openSession(at.db)
    const [one, other] = [await open(root), await openSession(at.db)]
    const two = await open(one)
    await close(root)
    for (const run of [root, one, two]) expect(await claim(at.db, run)).toEqual({ kind: 'closed' })
    expect((await claim(at.db, other)).kind).toBe('mine')
  })

  it('refuses the fork of a step that was begun before, and one of a client', async () => {
    const root = await openSession(at.db)
    const step = await take(at.db, root, { key: 't1.0.0', kind: 'child' })
    await close(root)
    const made = child(root)
    const settling = settleStep(at.db, step, { outcome: {}, writes: { child: { ...made, records: [] } } })
    await expect(settling).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await expect(createSession(at.db, made)).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    expect(await readSession(at.db, made.sessionId)).toBeUndefined()
  })

  it('of a session that may never have been opened marks it only if it never was', async () => {
    const root = await openSession(at.db)
    const [young, old] = [await open(root), await open(root)]
    await configureSession(at.db, {
      sessionId: old.sessionId,
      config: { ...child(root).config, limits: DEFAULT_LIMITS },
    })
    for (const [run, closing] of [
      [young, true],
      [old, false],
    ] as const) {
      expect(await announceFacts(at.db, run, { key: 'a1', writes: { closing: 'unopened' } })).toMatchObject({ closing })
      expect((await claim(at.db, run)).kind).toBe(closing ? 'closed' : 'mine')
    }
  })

  it('reaches a child that is just being made', async () => {
    const root = await openSession(at.db)
    const id = newId()
    const insert = `insert into sessions (id, root_id, parent_id, depth, agent, label, config)
                    values ($1, $2, $2, 1, 'test', 'just made', '{}')`
    await interleaved(at.db, [insert, [id, root.sessionId]], () => close(root))
    expect(await isClosing({ sessionId: id })).toBe(true)
  })

  it('reaches the grandchild that is made while its parent is marked', async () => {
    const root = await openSession(at.db)
    const parent = await open(root)
    const id = newId()
    const insert = `insert into sessions (id, root_id, parent_id, depth, agent, label, config)
                    values ($1, $2, $3, 2, 'test', 'just made', '{}')`
    await interleaved(at.db, [insert, [id, root.sessionId, parent.sessionId]], () => close(root))
    expect(await isClosing({ sessionId: id })).toBe(true)
  })

  it('that marks the parent first refuses the child that waits for it', async () => {
    const root = await openSession(at.db)
    const parent = await open(root)
    const mark = `update sessions set closing_at = now() where id = $1`
    const ended = await interleaved(at.db, [mark, [parent.sessionId]], () => fork(parent))
    expect(ended).toMatchObject({ code: 'SESSION_CLOSED' })
  })

  it('leaves a closed session free, so that a client can fork it', async () => {
    const root = await openSession(at.db)
    await announceFacts(at.db, root, { key: 'a1', writes: { closing: true, closed: true } })
    await createSession(at.db, child(root))
  })

  it('is told to a session of the tree that is closed alone, so that the close is passed on', async () => {
    const root = await openSession(at.db)
    const one = await open(root)
    expect(await announceFacts(at.db, one, { key: 'a1', writes: {} })).toMatchObject({ closing: false })
    await close(root)
    expect(await announceFacts(at.db, one, { key: 'a2', writes: { closed: true } })).toMatchObject({ closing: true })
  })

  it('does not hold a session that Temporal has rewound to before it', async () => {
    const root = await openSession(at.db)
    await close(root)
    const rewound = resetRun(root, 'run-2', 0)
    await announceFacts(at.db, rewound, { key: 'a1', writes: {} })
    expect((await claim(at.db, rewound)).kind).toBe('mine')
  })

  it('that still tells the rest of the children does not close an agent that was opened again meanwhile', async () => {
    const root = await openSession(at.db)
    const agent = await open(root)
    const { sessionId, gen, turn, place } = agent
    const ids = [`b-${newId()}`, `c-${newId()}`]
    for (const id of ids) await open(agent, id)
    const deps = depsOf(at.db, { llm: scriptedModel(() => 'answer') })
    const tell = async (told: number, batch: { limit?: number; after?: string }): Promise<string[]> => {
      const close = { messages: [], cascade: true, ...batch }
      const step = { sessionId, gen, turn, place, base: 0, messageId: 'm', round: 0, key: `a${told}` }
      return (await attempt(agent, () => announce(deps, { ...step, told, events: [], close }))).children
    }
    expect(await tell(1, { limit: 1 })).toEqual(ids.slice(0, 1))
    expect(await reopenAgent(at.db, sessionId, root.sessionId)).toBe(true)
    expect(await tell(2, { after: ids[0] ?? '' })).toEqual(ids.slice(1))
    const row = await readSession(at.db, sessionId)
    expect([row?.closing, row?.closedAt]).toEqual([undefined, undefined])
  })
})
