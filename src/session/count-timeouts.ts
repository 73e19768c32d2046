/** Time-outs in a row. Counted when a round is over, in call order, so that the count never depends on timing. */
import { TIMEOUTS_LIMIT, type Call } from './state.ts'

export interface Counted {
  timeouts: Record<string, number>
  /** The first tool whose time-outs reached the limit, and how many in a row they were then. */
  exceeded?: { tool: string; count: number }
}

/** A time-out adds one to its tool, any other outcome of that tool clears it. */
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
