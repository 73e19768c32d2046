/**
 * Counts time-outs in a row. It counts when a round is over, in call order, so that the count never depends on timing.
 */
import { TIMEOUTS_LIMIT, type Call } from './state.ts'

export interface Counted {
  timeouts: Record<string, number>
  /** The first tool whose time-outs reached the limit, and how many there were in a row. */
  exceeded?: { tool: string; count: number }
}

/** A time-out adds one to its tool. Any other outcome of that tool clears the count. */
export function countTimeouts(before: Record<string, number>, calls: Call[], limit: number): Counted {
  const counts = new Map(Object.entries(before))
  let exceeded: Counted['exceeded']
  for (const { name, result } of calls) {
    if (result?.code !== 'TOOL_TIMEOUT') {
      counts.delete(name)
      continue
    }
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    if (count >= limit) exceeded ??= { tool: name, count }
  }
  return { timeouts: Object.fromEntries([...counts].slice(-TIMEOUTS_LIMIT)), ...(exceeded && { exceeded }) }
}
