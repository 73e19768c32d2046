/** The names by which a person may call a session, and which session is meant. */
import { describe, expect, it } from 'vitest'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { findSessions } from '../../src/store/sessions/find-sessions.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { newSessionRow, openSession } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

async function session(sessionId: string, label: string): Promise<void> {
  const row = newSessionRow({ sessionId })
  await createSession(at.db, { ...row, config: { ...row.config, label } })
}

describe('a session is found', () => {
  it('by its id, also if another id begins with it', async () => {
    await session('s-aa', 'one')
    await session('s-aab', 's-aa')
    expect(await findSessions(at.db, 's-aa')).toEqual(['s-aa'])
  })

  it('by the beginning of its id', async () => {
    await session('s-b0', 'x')
    await session('s-b1', 'y')
    expect(await findSessions(at.db, 's-b1')).toEqual(['s-b1'])
    expect(await findSessions(at.db, 's-b')).toEqual(['s-b1', 's-b0'])
    expect(await findSessions(at.db, 's-B')).toEqual([])
  })

  it('by its label rather than by an id that begins with it', async () => {
    await session('tea-time', 'nothing')
    await session('s-c', 'tea')
    expect(await findSessions(at.db, 'tea')).toEqual(['s-c'])
  })

  it('by a label that another session had before it was closed', async () => {
    const closed = await openSession(at.db, { config: { ...newSessionRow().config, label: 'again' } })
    expect(await findSessions(at.db, 'again')).toEqual([closed.sessionId])
    await announceFacts(at.db, closed, { key: 'a1', writes: { closed: true } })
    expect(await findSessions(at.db, 'again')).toEqual([closed.sessionId])
    await session('s-d', 'again')
    expect(await findSessions(at.db, 'again')).toEqual(['s-d'])
  })

  it('never by an empty text, by half a character, or by a text that looks like a pattern', async () => {
    for (const text of ['', '%', 's_', '\uD83D', 'a\0']) expect(await findSessions(at.db, text)).toEqual([])
  })

  it('among many without reading them all', async () => {
    await at.db.pool.query(
      `insert into sessions (id, root_id, agent, label, config)
       select 'm-' || n, 'm-' || n, 'test', 'many ' || n, '{}' from generate_series(1, 5000) n`,
    )
    await at.db.pool.query('analyze sessions')
    const { rows } = await at.db.pool.query<{ 'QUERY PLAN': string }>(
      `explain select id from sessions where id = 'm-17' or label = 'm-17' or (id ~>=~ 'm-17' and id ~<~ 'm-18')`,
    )
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain('sessions_label')
    expect(plan).not.toContain('Seq Scan')
  })
})
