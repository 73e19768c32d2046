/** A transcript in pages: the owner of each record, what the model no longer reads, and limits in records and bytes. */
import { expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import {
  readRecordPage,
  type RecordPage,
  type RecordRange,
  type SessionRecord,
} from '../../src/store/transcript/record-pages.ts'
import { readInherited, readRecordsSoFar } from '../../src/store/transcript/records.ts'
import { nextRecord } from '../../src/store/ledger/hashes.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { openSession, resetRun, take, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { readBy } from './rows-read.ts'

const at = useDatabase()
const user = (content: string): Message => ({ role: 'user', content })
const said = (whose: string, count: number): Message[] =>
  Array.from({ length: count }, (_, i) => user(`${whose} ${i + 1}`))

async function allPages(sessionId: string, range: RecordRange = {}): Promise<RecordPage[]> {
  const pages: RecordPage[] = []
  for (let from: number | undefined = range.from ?? 0; from !== undefined; from = pages.at(-1)?.next)
    pages.push(await readRecordPage(at.db, sessionId, { ...range, from }))
  return pages
}
const contents = (records: readonly SessionRecord[]): string[] => records.map(({ message }) => message.content)

it('shows inherited records first, with the session that owns each, and marks what the model no longer reads', async () => {
  const root = await openSession(at.db)
  await write(at.db, root, 'a', 1, said('root', 4))
  const parent = await openSession(at.db, { branch: { sessionId: root.sessionId, gen: 0, seq: 3 }, depth: 1 })
  await write(at.db, parent, 'a', 1, said('parent', 3))
  const child = await openSession(at.db, { branch: { sessionId: parent.sessionId, gen: 0, seq: 2 }, depth: 2 })
  await write(at.db, child, 'a', 1, said('child', 3))
  const step = await take(at.db, child, { key: 'c1' })
  const summary = { at: { sessionId: child.sessionId, gen: 0, seq: 1 }, text: 'all of it', standsFor: 6, cut: false }
  await settleStep(at.db, step, { outcome: { kind: 'compacted' }, writes: { summary } })

  const { records, from, total, next } = await readRecordPage(at.db, child.sessionId)
  expect([from, total, next]).toEqual([0, 8, undefined])
  expect(
    records.map(({ seq, message, inheritedFrom, summarised }) => [message.content, seq, inheritedFrom, summarised]),
  ).toEqual([
    ['root 1', 1, root.sessionId, true],
    ['root 2', 2, root.sessionId, true],
    ['root 3', 3, root.sessionId, true],
    ['parent 1', 1, parent.sessionId, true],
    ['parent 2', 2, parent.sessionId, true],
    ['child 1', 1, undefined, true],
    ['child 2', 2, undefined, undefined],
    ['child 3', 3, undefined, undefined],
  ])
  expect(records[0]?.at).toBeInstanceOf(Date)
  const whole = [
    ...(await readInherited(at.db, child.sessionId)),
    ...(await readRecordsSoFar(at.db, { sessionId: child.sessionId, gen: 0 })),
  ]
  for (const limit of [1, 2, 3, 5, 8, 100]) {
    const pages = await allPages(child.sessionId, { limit })
    expect(pages.every((page) => page.records.length <= limit)).toBe(true)
    expect(contents(pages.flatMap((page) => page.records))).toEqual(whole.map(({ message }) => message.content))
  }
})

it('counts a negative place from the end, and shows nothing behind it', async () => {
  const run = await openSession(at.db)
  expect(await readRecordPage(at.db, run.sessionId)).toEqual({ records: [], from: 0, total: 0 })
  await write(at.db, run, 'a', 1, said('own', 5))
  const page = await readRecordPage(at.db, run.sessionId, { from: -2 })
  expect([page.from, contents(page.records)]).toEqual([3, ['own 4', 'own 5']])
  expect(contents((await readRecordPage(at.db, run.sessionId, { from: -9, limit: 1 })).records)).toEqual(['own 1'])
  expect(await readRecordPage(at.db, run.sessionId, { from: 9 })).toEqual({ records: [], from: 5, total: 5 })
})

it('shows the generation that counts, and results that were missing before when they are there', async () => {
  const run = await openSession(at.db)
  await write(at.db, run, 'a', 1, said('old', 4))
  const again = resetRun(run, 'run-2', 2)
  await resolveRun(at.db, again)
  const step = await take(at.db, again, { key: 'b' })
  const [third, fifth] = [nextRecord('', 3, user('new 3')), nextRecord('', 5, user('new 5'))]
  await settleStep(at.db, step, { outcome: {}, writes: { records: [third, fifth] } })
  const pages = await allPages(run.sessionId, { limit: 3 })
  expect(pages.map((page) => contents(page.records))).toEqual([['old 1', 'old 2', 'new 3'], ['new 5']])
  await settleStep(at.db, await take(at.db, again, { key: 'c' }), {
    outcome: {},
    writes: { records: [nextRecord('', 4, user('new 4'))] },
  })
  expect(contents((await readRecordPage(at.db, run.sessionId, { from: 2 })).records)).toEqual([
    'new 3',
    'new 4',
    'new 5',
  ])
})

it('ends a page after 2 MiB, however well the text is packed, and shows a longer record alone', async () => {
  const run = await openSession(at.db)
  const long = (mark: string): Message => user(`${mark}${'x'.repeat(900 * 1024)}`)
  await write(at.db, run, 'a', 1, [long('1'), long('2'), long('3'), user(`4${'y'.repeat(4 * 1024 * 1024)}`), long('5')])
  const pages = await allPages(run.sessionId)
  expect(pages.map((page) => contents(page.records).map((text) => text[0]))).toEqual([['1', '2', '3'], ['4'], ['5']])
})

it('reads only what a page shows, of 5,000 records', async () => {
  const run = await openSession(at.db)
  await write(at.db, run, 'a', 1, said('own', 5000))
  const child = await openSession(at.db, { branch: { sessionId: run.sessionId, gen: 0, seq: 4900 }, depth: 1 })
  await write(at.db, child, 'a', 1, said('child', 50))
  await at.db.pool.query('analyze')
  const pages = await allPages(child.sessionId, { limit: 1000 })
  expect(pages.map(({ records }) => records.length)).toEqual([1000, 1000, 1000, 1000, 950])
  const read = await readBy(at.db, 'records', async () => {
    expect((await readRecordPage(at.db, child.sessionId, { from: -100 })).records).toHaveLength(100)
  })
  expect(read).toBeLessThan(210)
})
