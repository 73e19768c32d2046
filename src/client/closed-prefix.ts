/** Where a fork may branch: behind the last exchange whose calls all have their results. */
import type { StoredRecord } from '../store/records.ts'

/** @returns seq of the last record that may be inherited */
export function closedPrefix(records: readonly StoredRecord[]): number {
  const asking = records.findLastIndex((record) => (record.message.toolCalls?.length ?? 0) > 0)
  const asked = records[asking]
  if (!asked) return records.length
  const answers = records.slice(asking + 1).filter((record) => record.message.role === 'tool').length
  return answers >= (asked.message.toolCalls?.length ?? 0) ? records.length : asked.seq - 1
}
