/** Where a fork may branch: after the last exchange whose calls all have their results. */
import type { Database } from '../store/database.ts'
import { lastSeq, readRecordsSoFar, type StoredRecord } from '../store/records.ts'

/** How many records are read first. If an answer has more calls than this, the next, larger read finds it. */
const WINDOW = 64

/**
 * Reads only the end of the transcript: the cost of a fork must not grow with its parent.
 *
 * @returns seq of the last own record that may be inherited
 */
export async function closedPrefix(db: Database, sessionId: string, gen: number): Promise<number> {
  const last = await lastSeq(db, sessionId, gen)
  for (let window = WINDOW; ; window *= 8) {
    const from = Math.max(0, last - window)
    const records = await readRecordsSoFar(db, sessionId, gen, from)
    if (from === 0 || records.some(({ message }) => message.role !== 'tool')) return closedEnd(records)
  }
}

function closedEnd(records: readonly StoredRecord[]): number {
  const asking = records.findLastIndex(({ message }) => message.role !== 'tool')
  const asked = records[asking]
  const answers = records.length - asking - 1
  if (asked && answers < (asked.message.toolCalls?.length ?? 0)) return asked.seq - 1
  return records.at(-1)?.seq ?? 0
}
