/** A span of a time line, and the order of many. Pure. */

/** Something that took its time in a session. An attempt that was taken over is a span of its own. */
export interface TimelineSpan {
  /** The session. */
  sessionId: string
  /** `child`: a child is opened, or its answer is awaited. `wait`: for a person, or for a provider that is away. */
  kind: 'model' | 'tool' | 'child' | 'wait' | 'pause'
  /** The model, the tool, the provider that is waited for, or the reason of a pause. */
  name: string
  /** The tool's name for people; what is asked, or why nothing went on. */
  title?: string
  /** Its turn. 0: it belongs to none. */
  turn: number
  /** Its round. */
  round?: number
  /** The call that it belongs to. */
  callId?: string
  /** Which attempt at the step it is, from 1. Attempts that failed without a trace count, so numbers may be missing. */
  attempt: number
  /** The worker that ran it, by its boot id. Unset: none did, or nobody has noted which. */
  worker?: string
  /** When it began. */
  begunAt: Date
  /** When it ended. Unset: it goes on. */
  endedAt?: Date
  /** How it ended. `unknown`: nobody knows what the call has done. `taken_over`: its worker had died. */
  outcome?: 'succeeded' | 'failed' | 'unknown' | 'taken_over' | 'cancelled'
  /** Why it failed. */
  code?: string
}

/** A span, and the step that it is an attempt at. */
export type KeyedSpan = TimelineSpan & { step?: { key: string; failures: number } }

/**
 * Sorts by begin and numbers the attempts at each step. An attempt that was taken over gets the facts that the ledger knows about
 * its call now.
 */
export function inOrder(spans: readonly KeyedSpan[]): TimelineSpan[] {
  const attempts = new Map<string, KeyedSpan[]>()
  const sorted = spans.toSorted((a, b) => a.begunAt.getTime() - b.begunAt.getTime())
  for (const span of sorted) {
    if (!span.step) continue
    const id = `${span.sessionId} ${span.step.key}`
    attempts.set(id, [...(attempts.get(id) ?? []), span])
  }
  const numbered = new Map<KeyedSpan, Partial<TimelineSpan>>()
  for (const each of attempts.values()) {
    const { title, callId } = each.find((span) => span.callId !== undefined || span.title !== undefined) ?? {}
    const named = { ...(title !== undefined && { title }), ...(callId !== undefined && { callId }) }
    for (const [nth, span] of each.entries())
      numbered.set(span, { ...named, attempt: nth + 1 + (span.step?.failures ?? 0) })
  }
  return sorted.map((span) => {
    const { step: _step, ...shown } = span
    return { ...shown, ...numbered.get(span) }
  })
}
