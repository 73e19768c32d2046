/** Where a fork may branch: after the last exchange whose calls all have their results. */
import { StelloError } from '../core/errors.ts'
import type { Database } from '../store/database/database.ts'
import {
  lastSeq,
  readOwnRecords,
  readRecordsSoFar,
  type Generation,
  type StoredRecord,
} from '../store/transcript/records.ts'

/** How many records are read first. If an answer has more calls than this, the next, larger read finds it. */
const WINDOW = 64

/**
 * Reads only the end of the transcript: the cost of a fork must not grow with its parent.
 *
 * @param before the first own record that is left out. Unset: none is
 * @returns seq of the last own record that may be inherited
 * @throws StelloError INVALID_ARGUMENT when there is no record before which that could be
 */
export async function closedPrefix(db: Database, { sessionId, gen }: Generation, before?: number): Promise<number> {
  const end = await lastSeq(db, { sessionId, gen })
  if (before !== undefined && before > end + 1) {
    throw new StelloError('INVALID_ARGUMENT', `fork: before: session ${sessionId} has ${end} records of its own`, {
      hint: `\`stello transcript ${sessionId}\` shows them; the events name them by their seq`,
    })
  }
  const last = before === undefined ? end : before - 1
  for (let window = WINDOW; ; window *= 8) {
    const from = Math.max(0, last - window)
    const records =
      before === undefined
        ? await readRecordsSoFar(db, { sessionId, gen }, from)
        : await readOwnRecords(db, { sessionId, gen, seq: last }, from)
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
