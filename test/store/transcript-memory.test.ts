/** How much memory the cache of transcripts really takes: no more than it may, whatever the records hold. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { finish } from '../../src/activities/tool/finish.ts'
import type { CallToolInput } from '../../src/protocol/steps.ts'
import { nextRecord } from '../../src/store/ledger/hashes.ts'
import { TranscriptCache } from '../../src/store/transcript/transcript-cache.ts'
import type { NewRecord } from '../../src/store/ledger/writes.ts'
import { newId } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const MB = 1024 * 1024
const LIMIT = 2 * MB
/** What the tests and the drivers keep beside it. */
const SLACK = 2 * MB

type Made = (seq: number) => NewRecord
const said = (message: (seq: number) => Message): Made => {
  return (seq) => nextRecord('', seq, message(seq))
}
/** Characters of two bytes each, made anew, so that no two records share them. */
const wide = (length: number, seq: number): string => `${seq}й`.repeat(length).slice(0, length)

const KINDS: [what: string, sessions: number, records: number, made: Made][] = [
  ['results that were cut', 40, 1, (seq) => cutResult(wide(MB, seq), seq)],
  ['results that are the beginning of something big', 40, 1, said((seq) => resultOf(wide(MB, seq).slice(0, 5000)))],
  ['answers in two bytes per letter', 20, 20, said((seq) => ({ role: 'assistant', content: wide(20_000, seq) }))],
  ['messages of a word', 50, 500, said(() => ({ role: 'user', content: 'go' }))],
  ['parts', 20, 20, said((seq) => ({ role: 'tool', content: '', parts: manyParts(seq) }))],
  ['many small calls', 50, 10, said((seq) => ({ role: 'assistant', content: '', toolCalls: manyCalls(seq) }))],
  ['results that came before the first', 20, 20, said((seq) => resultOf(wide(20_000, seq)))],
  ['nothing', 10_000, 0, said(() => ({ role: 'user', content: '' }))],
]

it.each(KINDS)('takes no more memory than its limit, with %s', async (what, sessions, records, made) => {
  const cache = new TranscriptCache(LIMIT)
  const first = what.includes('before the first') ? 2 : 1
  const ids = Array.from({ length: sessions }, () => newId())
  const before = used()
  const fill = async (id: string): Promise<void> => {
    await cache.read(at.db, { sessionId: id, gen: 0, seq: 0 })
    for (let seq = first; seq < first + records; seq++) cache.append(id, 0, [made(seq)])
  }
  for (let n = 0; n < sessions; n += 10) await Promise.all(ids.slice(n, n + 10).map(fill))
  const held = used() - before
  expect(held).toBeLessThan(LIMIT + SLACK)
  await cache.read(at.db, { sessionId: ids[0] ?? '', gen: 0, seq: 0 })
})

function used(): number {
  // The engine remembers the last text that a pattern matched.
  ;/./.exec('.')
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const resultOf = (content: string): Message => ({ role: 'tool', toolCallId: 'c', name: 't', content })

function cutResult(content: string, seq: number): NewRecord {
  const call = { id: 'c', name: 't', preview: '' }
  const input = { sessionId: 's', key: `t${seq}`, call, seq, turn: 1 } as unknown as CallToolInput
  const ending = finish({ input, claim: { gen: 0 }, chain: '', durationMs: 1, end: { value: content } })
  const [record] = ending.kind === 'settle' ? (ending.writes.records ?? []) : []
  if (!record?.whole) throw new Error('the result was not cut')
  return record
}

function manyParts(seq: number): NonNullable<Message['parts']> {
  return Array.from({ length: 200 }, (_, i) => ({ type: 'text' as const, text: `${seq}/${i}` }))
}

function manyCalls(seq: number): NonNullable<Message['toolCalls']> {
  return Array.from({ length: 128 }, (_, i) => ({ id: `call-${seq}-${i}`, name: 'look', arguments: `{"n":${i}}` }))
}
