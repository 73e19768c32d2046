/**
 * Hashes that tie a step to its question and a record to its past, so that an old answer never meets a new question.
 */
import { createHash } from 'node:crypto'
import { cleanJson } from '../../core/clean.ts'
import type { Message } from '../../core/message.ts'
import type { NewRecord } from './writes.ts'

/** The chain hash before the first record. */
export const NO_CHAIN = ''

/** The hash of everything that a step's outcome depends on. */
export function inputHash(...parts: readonly (string | number)[]): string {
  return hash(JSON.stringify(parts))
}

/**
 * A record with its chain hash. All results of one round depend on the assistant's record, because they are written in
 * any order. The next record depends on all of them (`foldChain`). The text is cleaned before it is hashed, so that a
 * text read back from the store has the same hash.
 *
 * @param before chain hash of the record before
 */
export function nextRecord(before: string, seq: number, given: Message): NewRecord {
  const message = cleanJson(given)
  return { seq, message, chain: hash(JSON.stringify([before, seq, message])) }
}

/** The chain hash after the last of these records. The first of them must not be a tool result. */
export function foldChain(records: readonly { message: Message; chain: string }[]): string {
  const last = records.at(-1)
  if (!last) return NO_CHAIN
  if (last.message.role !== 'tool') return last.chain
  const start = records.findLastIndex((record) => record.message.role !== 'tool')
  const results = records.slice(start + 1)
  return results.reduce((chain, record) => hash(chain + record.chain), records[start]?.chain ?? NO_CHAIN)
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
