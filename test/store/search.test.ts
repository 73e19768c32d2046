/** The search over transcripts: what it finds and shows, what it must not find, and texts that are made to break it. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { nextRecord } from '../../src/store/ledger/hashes.ts'
import { updateIndexes } from '../../src/store/schema/indexes.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { searchRecords, type SearchHit } from '../../src/store/transcript/search.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { newSessionRow, openSession, resetRun, take, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { readBy } from './rows-read.ts'

const at = useDatabase()
const user = (content: string): Message => ({ role: 'user', content })
const find = (text: string, options?: Parameters<typeof searchRecords>[2]): Promise<SearchHit[]> =>
  searchRecords(at.db, text, options)
const places = async (text: string, sessionId?: string): Promise<unknown[]> =>
  (await find(text, { ...(sessionId !== undefined && { sessionId }) })).map((hit) => [hit.sessionId, hit.seq])
const shown = ([hit]: SearchHit[]): string | undefined =>
  hit?.snippet.map((part) => (part.hit ? `[${part.text}]` : part.text)).join('')

beforeAll(async () => {
  expect([...(await updateIndexes(at.db))]).toEqual([])
})

describe('searchRecords', () => {
  it('finds the newest first, says where, and marks the words in a piece of plain text', async () => {
    const config = { ...newSessionRow().config, agent: 'sailor', label: 'the harbour' }
    const root = await openSession(at.db, { config })
    const child = await openSession(at.db, { config, rootId: root.sessionId, parentId: root.sessionId, depth: 1 })
    await write(at.db, root, 'a', 1, [
      user(`${'before '.repeat(200)}<b>Albatross</b> & "albatross" ${'after '.repeat(200)}`),
    ])
    await write(at.db, child, 'a', 1, [user('nothing'), { role: 'assistant', content: 'An ALBATROSS, again.' }])
    const hits = await find('albatross')
    const where = { label: 'the harbour', agent: 'sailor', rootId: root.sessionId, at: expect.any(Date) }
    expect(hits).toEqual([
      { ...where, sessionId: child.sessionId, seq: 2, role: 'assistant', snippet: expect.anything() },
      { ...where, sessionId: root.sessionId, seq: 1, role: 'user', snippet: expect.anything() },
    ])
    expect(shown(hits)).toBe('An [ALBATROSS], again')
    expect(shown(hits.slice(1))).toMatch(/before .*\[Albatross\].* & "\[albatross\]" after/)
    expect(shown(hits.slice(1))?.length).toBeLessThan(500)
    expect(await find('albatross', { limit: 1 })).toHaveLength(1)
  })

  it('knows words that follow each other, words of which one is enough, and words that must be missing', async () => {
    const run = await openSession(at.db)
    await write(at.db, run, 'a', 1, [user('red kite over the hill'), user('kite, red'), user('blue kestrel')])
    expect(await places('red kite')).toEqual([
      [run.sessionId, 2],
      [run.sessionId, 1],
    ])
    expect(await places('"red kite"')).toEqual([[run.sessionId, 1]])
    expect(await places('kite -hill')).toEqual([[run.sessionId, 2]])
    expect(await places('hill or kestrel')).toEqual([
      [run.sessionId, 3],
      [run.sessionId, 1],
    ])
  })

  it('finds nothing that was rewound, and what took its place once', async () => {
    const run = await openSession(at.db)
    await write(at.db, run, 'a', 1, [user('kept dodo'), user('rewound dodo')])
    const again = resetRun(run, 'run-2', 1)
    await resolveRun(at.db, again)
    expect(await places('dodo')).toEqual([[run.sessionId, 1]])
    const step = await take(at.db, again, { key: 'b' })
    await settleStep(at.db, step, { outcome: {}, writes: { records: [nextRecord('', 2, user('new dodo'))] } })
    expect(shown(await find('dodo'))).toBe('new [dodo]')
    expect(await places('dodo')).toEqual([
      [run.sessionId, 2],
      [run.sessionId, 1],
    ])
    expect(await places('rewound', run.sessionId)).toEqual([])
  })

  it('searches one conversation with its inherited part, up to where it branched', async () => {
    const parent = await openSession(at.db)
    await write(at.db, parent, 'a', 1, [user('heron 1'), user('heron 2')])
    const child = await openSession(at.db, { branch: { sessionId: parent.sessionId, gen: 0, seq: 1 }, depth: 1 })
    await write(at.db, child, 'a', 1, [user('heron 3')])
    expect(await places('heron', child.sessionId)).toEqual([
      [child.sessionId, 1],
      [parent.sessionId, 1],
    ])
    expect(await places('heron', parent.sessionId)).toEqual([
      [parent.sessionId, 2],
      [parent.sessionId, 1],
    ])
  })

  it('searches a fork without what its parent said after a rewind', async () => {
    const parent = await openSession(at.db)
    await write(at.db, parent, 'a', 1, [user('kept emu'), user('emu before')])
    const child = await openSession(at.db, { branch: { sessionId: parent.sessionId, gen: 0, seq: 2 }, depth: 1 })
    const again = resetRun(parent, 'run-2', 1)
    await resolveRun(at.db, again)
    const step = await take(at.db, again, { key: 'b' })
    await settleStep(at.db, step, { outcome: {}, writes: { records: [nextRecord('', 2, user('emu afterwards'))] } })
    expect(await find('emu', { sessionId: child.sessionId })).toMatchObject([{ seq: 2 }, { seq: 1 }])
    expect(shown(await find('before', { sessionId: child.sessionId }))).toBe('emu [before]')
    expect(await find('afterwards', { sessionId: child.sessionId })).toEqual([])
  })

  it.each([
    ['nothing', ''],
    ['space', ' \n\t '],
    ['signs', '?! … "" \'; -- :* & | <-> ( \\'],
    ['only what must be missing', '-heron'],
    ['NUL and half a character', '\0\uD83D'],
    ['open quotes', '"""'],
    ['10 kB of words that do not occur', 'xyzzy '.repeat(1700)],
    ['10 kB without a space', 'q'.repeat(10_240)],
  ])('finds nothing for %s, and breaks nothing', async (_, text) => {
    await write(at.db, await openSession(at.db), 'a', 1, [user('heron'), user('egret')])
    expect(await find(text)).toEqual([])
  })

  it('lets no text forge a hit', async () => {
    await write(at.db, await openSession(at.db), 'a', 1, [user('\u0002a\u0001forged\u0002 petrel \u0001b')])
    expect((await find('petrel'))[0]?.snippet).toEqual([
      { text: 'aforged ', hit: false },
      { text: 'petrel', hit: true },
      { text: ' b', hit: false },
    ])
  })

  it('lets every text be written, and finds what its first 65,536 characters hold', async () => {
    const run = await openSession(at.db)
    const own = (n: number): string => String.fromCodePoint(0x20000 + (n % 40_000))
    const texts = [
      Array.from({ length: 60_000 }, (_, n) => own(n)).join('-'),
      Array.from({ length: 60_000 }, (_, n) => own(n)).join(' '),
      Array.from({ length: 20_000 }, (_, n) => `http://${own(n)}.de/${own(n + 1)}?${n}`).join(' '),
      Array.from({ length: 20_000 }, (_, n) => `${n.toString(36)}@x${n.toString(36)}.org`).join(' '),
      Array.from({ length: 20_000 }, (_, n) => `a${n}-b${n}_c${n}/d${n}`).join('-'),
      'x'.repeat(1_048_576),
      `${'y '.repeat(32_000)}nearly ${'y '.repeat(5_000)}toolate`,
    ]
    await write(at.db, run, 'a', 1, texts.map(user))
    expect(await places('nearly')).toEqual([[run.sessionId, 7]])
    expect(await places('toolate')).toEqual([])
    expect((await find(own(7), { sessionId: run.sessionId }))[0]?.snippet.every(({ text }) => text.length <= 200)).toBe(
      true,
    )
  })

  it('reads only the records that hold the words, of 20,000', async () => {
    const { sessionId } = await openSession(at.db)
    await at.db.pool.query(
      `insert into records (session_id, gen, seq, message, chain)
       select $1, 0, n, jsonb_build_object('role', 'user', 'content', 'common words' || case when n % 4000 = 0 then ' gannet' else '' end), ''
       from generate_series(1, 20000) n`,
      [sessionId],
    )
    await at.db.pool.query('vacuum analyze records')
    const read = await readBy(at.db, 'records', async () => expect(await find('gannet')).toHaveLength(5))
    expect(read).toBeLessThan(50)
    expect(await readBy(at.db, 'records', () => find('gannet', { sessionId }))).toBeLessThan(50)
  })
})
