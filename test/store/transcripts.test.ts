/** What a model is shown: own records, and inherited ones by reference, from the cache or from the store. */
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { foldChain, inputHash, nextRecord } from '../../src/store/ledger/hashes.ts'
import { readInherited, readOwnRecords, readWholeRecord } from '../../src/store/transcript/records.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { TranscriptCache } from '../../src/store/transcript/transcript-cache.ts'
import { countRows, newSessionRow, openSession, resetRun, take, userRecord, write } from './fixtures.ts'
import { countStatements, useDatabase } from './postgres.ts'

const at = useDatabase()

const user = (content: string): Message => ({ role: 'user', content })
const contents = (messages: readonly Message[]): string[] => messages.map(({ content }) => content)

describe('readOwnRecords', () => {
  it('names session, generation and the first record that is missing', async () => {
    const run = await openSession(at.db)
    await write(at.db, run, 'a', 1, [user('1'), user('2'), user('3'), user('4')])
    await at.db.pool.query('delete from records where session_id = $1 and seq in (2, 3)', [run.sessionId])
    await expect(readOwnRecords(at.db, { sessionId: run.sessionId, gen: 0, seq: 4 })).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringMatching(new RegExp(`${run.sessionId}: record 2 .*generation 0`)),
    })
  })

  it('misses a record at the end too', async () => {
    const run = await openSession(at.db)
    await write(at.db, run, 'a', 1, [user('1')])
    await expect(readOwnRecords(at.db, { sessionId: run.sessionId, gen: 0, seq: 2 })).rejects.toMatchObject({
      message: expect.stringContaining('record 2'),
    })
  })
})

describe('a fork that inherits', () => {
  it('of 2,000 records copies none and reads the records of the parent first, then its own', async () => {
    const parent = await openSession(at.db)
    await write(
      at.db,
      parent,
      'a',
      1,
      Array.from({ length: 2000 }, (_, i) => user(`parent ${i + 1}`)),
    )
    const branch = { sessionId: parent.sessionId, gen: 0, seq: 1500 }
    const child = await openSession(at.db, { parentId: parent.sessionId, branch, depth: 1 })
    expect(await countRows(at.db, 'records', child.sessionId)).toBe(0)
    await write(at.db, child, 'a', 1, [user('own 1')])
    const { messages } = await new TranscriptCache().read(at.db, { sessionId: child.sessionId, gen: 0, seq: 1 })
    expect(messages).toHaveLength(1501)
    expect(contents(messages.slice(1498))).toEqual(['parent 1499', 'parent 1500', 'own 1'])
    expect(await countRows(at.db, 'records', child.sessionId)).toBe(1)
  })

  it('of a fork reads through both', async () => {
    const root = await openSession(at.db)
    await write(at.db, root, 'a', 1, [user('r1'), user('r2')])
    const child = await openSession(at.db, {
      parentId: root.sessionId,
      branch: { sessionId: root.sessionId, gen: 0, seq: 1 },
      depth: 1,
    })
    await write(at.db, child, 'a', 1, [user('c1'), user('c2')])
    const branch = { sessionId: child.sessionId, gen: 0, seq: 1 }
    const grandchild = newSessionRow({ parentId: child.sessionId, branch, depth: 2 })
    await createSession(at.db, grandchild)
    expect(contents((await readInherited(at.db, grandchild.sessionId)).map(({ message }) => message))).toEqual([
      'r1',
      'c1',
    ])
  })

  it('keeps reading the generation it branched from after the parent was rewound', async () => {
    const parent = await openSession(at.db)
    await write(at.db, parent, 'a', 1, [user('1'), user('old 2')])
    const branch = { sessionId: parent.sessionId, gen: 0, seq: 2 }
    const child = await openSession(at.db, { parentId: parent.sessionId, branch, depth: 1 })
    const rewound = resetRun(parent, 'reset', 1)
    await write(at.db, rewound, 'b', 2, [user('new 2')])
    expect(contents((await readInherited(at.db, child.sessionId)).map(({ message }) => message))).toEqual([
      '1',
      'old 2',
    ])
  })
})

describe('readWholeRecord', () => {
  it('returns the whole text where the model reads a cut one', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    await settleStep(at.db, step, {
      outcome: {},
      writes: { records: [{ ...userRecord(1, 'cut'), whole: 'the whole text' }] },
    })
    const found = await readWholeRecord(at.db, { sessionId: run.sessionId, gen: 0, seq: 1 })
    expect([found?.message.content, found?.whole]).toEqual(['cut', 'the whole text'])
  })
})

describe('TranscriptCache', () => {
  it('reads nothing again that it has read or was told of', async () => {
    const run = await openSession(at.db)
    const cache = new TranscriptCache()
    await write(at.db, run, 'a', 1, [user('1')])
    await cache.read(at.db, { sessionId: run.sessionId, gen: 0, seq: 1 })
    const record = nextRecord('', 2, user('2'))
    cache.append(run.sessionId, 0, [record])
    let read: string[] = []
    const sent = await countStatements(
      async () => (read = contents((await cache.read(at.db, { sessionId: run.sessionId, gen: 0, seq: 2 })).messages)),
    )
    expect([sent, read]).toEqual([0, ['1', '2']])
  })

  it('holds back what was written ahead of a gap until the gap is closed', async () => {
    const run = await openSession(at.db)
    const cache = new TranscriptCache()
    await write(at.db, run, 'a', 1, [user('1')])
    await cache.read(at.db, { sessionId: run.sessionId, gen: 0, seq: 1 })
    cache.append(run.sessionId, 0, [nextRecord('', 3, user('3'))])
    cache.append(run.sessionId, 0, [nextRecord('', 2, user('2'))])
    expect(contents((await cache.read(at.db, { sessionId: run.sessionId, gen: 0, seq: 3 })).messages)).toEqual([
      '1',
      '2',
      '3',
    ])
  })

  it('keeps one copy of each record when several read the same ones at once', async () => {
    const run = await openSession(at.db)
    const all = Array.from({ length: 50 }, (_, i) => `${i + 1}`)
    await write(at.db, run, 'a', 1, all.map(user))
    const cache = new TranscriptCache()
    const read = async (upTo: number) =>
      contents((await cache.read(at.db, { sessionId: run.sessionId, gen: 0, seq: upTo })).messages)
    await read(0)
    expect(await Promise.all([10, 20, 10].map(read))).toEqual([all.slice(0, 10), all.slice(0, 20), all.slice(0, 10)])
    expect(await read(50)).toEqual(all)
  })

  it('keeps what fits', async () => {
    const cache = new TranscriptCache()
    const runs = [await openSession(at.db), await openSession(at.db)]
    for (const run of runs) await write(at.db, run, 'a', 1, [user('1')])
    const readAll = async () => {
      for (const { sessionId } of runs) await cache.read(at.db, { sessionId, gen: 0, seq: 1 })
    }
    await readAll()
    expect(await countStatements(readAll)).toBe(0)
  })

  it('never shows the records of an abandoned generation', async () => {
    const run = await openSession(at.db)
    const cache = new TranscriptCache()
    await write(at.db, run, 'a', 1, [user('1'), user('old 2')])
    await cache.read(at.db, { sessionId: run.sessionId, gen: 0, seq: 2 })
    const rewound = resetRun(run, 'reset', 1)
    await resolveRun(at.db, rewound)
    await write(at.db, rewound, 'b', 2, [user('new 2')])
    expect(contents((await cache.read(at.db, { sessionId: run.sessionId, gen: 1, seq: 2 })).messages)).toEqual([
      '1',
      'new 2',
    ])
  })

  it('reads again what it had to drop', async () => {
    const small = new TranscriptCache(1000)
    const runs = [await openSession(at.db), await openSession(at.db)] as const
    for (const run of runs) {
      await write(at.db, run, 'a', 1, [user('x'.repeat(1000))])
      await small.read(at.db, { sessionId: run.sessionId, gen: 0, seq: 1 })
    }
    expect(await countStatements(() => small.read(at.db, { sessionId: runs[1].sessionId, gen: 0, seq: 1 }))).toBe(0)
    expect(
      await countStatements(() => small.read(at.db, { sessionId: runs[0].sessionId, gen: 0, seq: 1 })),
    ).toBeGreaterThan(0)
    expect(contents((await small.read(at.db, { sessionId: runs[0].sessionId, gen: 0, seq: 1 })).messages)).toEqual([
      'x'.repeat(1000),
    ])
  })

  it('has the same chain hash as the store, whether it was told of the records or has read them', async () => {
    const run = await openSession(at.db)
    const { sessionId } = run
    const first = nextRecord('', 1, user('1'))
    const told = new TranscriptCache()
    const step = await take(at.db, run)
    await told.read(at.db, { sessionId, gen: 0, seq: 0 })
    const asked = nextRecord(first.chain, 2, {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'c', name: 't', arguments: '{}' }],
    })
    const results = [3, 4].map((seq) =>
      nextRecord(asked.chain, seq, { role: 'tool', content: `result ${seq}`, toolCallId: 'c', name: 't' }),
    )
    await settleStep(at.db, step, { outcome: {}, writes: { records: [first, asked, ...results] } })
    told.append(sessionId, 0, [first, asked, ...results])
    const fresh = await new TranscriptCache().read(at.db, { sessionId, gen: 0, seq: 4 })
    expect((await told.read(at.db, { sessionId, gen: 0, seq: 4 })).chain).toBe(fresh.chain)
  })
})

describe('hashes', () => {
  it('tie a record to its past and its content', () => {
    const record = nextRecord('past', 1, user('text'))
    expect(record.chain).toMatch(/^[0-9a-f]{32}$/)
    expect(nextRecord('other past', 1, user('text')).chain).not.toBe(record.chain)
    expect(nextRecord('past', 1, user('other')).chain).not.toBe(record.chain)
    expect(inputHash('a', 'bc')).not.toBe(inputHash('ab', 'c'))
  })

  it('cover every result of a round, so that a changed result changes what follows', () => {
    const asked = nextRecord('', 1, { role: 'assistant', content: '' })
    const result = (seq: number, content: string) =>
      nextRecord(asked.chain, seq, { role: 'tool', content, toolCallId: `${seq}`, name: 't' })
    const chain = foldChain([asked, result(2, 'a'), result(3, 'b')])
    expect(foldChain([asked, result(2, 'x'), result(3, 'b')])).not.toBe(chain)
    expect(foldChain([asked, result(2, 'a')])).not.toBe(chain)
  })
})
