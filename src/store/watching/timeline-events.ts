/** The spans that the durable log adds to a time line: attempts that were taken over, waits for people, pauses. Pure. */
import { preview } from '../../core/message.ts'
import type { DurableEvents } from '../../protocol/events.ts'
import type { KeyedSpan } from './timeline-span.ts'

/** An event as it stands in the log, without what a record holds: none of these events has a record. */
export interface ToldRow {
  session: string
  at: Date
  type: string
  turn: number | null
  data: object
}

/** Longest text of a question or of a pause that is shown, in UTF-16 units. */
const TITLE_SHOWN = 200

export function takenOver(told: readonly ToldRow[]): KeyedSpan[] {
  return told.flatMap(({ session, at, type, data }) => {
    if (type !== 'step.taken_over') return []
    const { key, kind, name, worker, begunAt, turn = 0, round } = data as DurableEvents['step.taken_over']
    return {
      sessionId: session,
      kind: kind === 'model' || kind === 'tool' ? kind : 'child',
      name,
      turn,
      ...(round !== undefined && { round }),
      attempt: 1,
      worker,
      begunAt: new Date(begunAt),
      endedAt: at,
      outcome: 'taken_over',
      step: { key, failures: 0 },
    }
  })
}

/** Each question, until it is answered or its session ends. */
export function waitsOf(told: readonly ToldRow[]): KeyedSpan[] {
  const open = new Map<string, KeyedSpan>()
  const spans: KeyedSpan[] = []
  for (const { session, at, type, data } of told) {
    if (type === 'pending.opened') {
      const { id, name, message, callId, turn, round } = data as DurableEvents['pending.opened']
      const title = preview(message, TITLE_SHOWN)
      const span: KeyedSpan = {
        sessionId: session,
        kind: 'wait',
        name,
        title,
        turn,
        round,
        callId,
        attempt: 1,
        begunAt: at,
      }
      open.set(`${session} ${id}`, span)
      spans.push(span)
    } else if (type === 'pending.closed') {
      const { id, decision } = data as DurableEvents['pending.closed']
      end(open.get(`${session} ${id}`), at, decision === 'cancelled' ? 'cancelled' : 'succeeded')
    } else if (type === 'session.closed') {
      for (const span of open.values()) if (span.sessionId === session) end(span, at, 'cancelled')
    }
  }
  return spans
}

/** Each pause, until somebody resumes or ends the session. */
export function pausesOf(told: readonly ToldRow[]): KeyedSpan[] {
  const open = new Map<string, KeyedSpan>()
  const spans: KeyedSpan[] = []
  for (const { session, at, type, turn, data } of told) {
    if (type === 'session.paused') {
      const { reason, message } = data as DurableEvents['session.paused']
      end(open.get(session), at, 'succeeded')
      const title = preview(message, TITLE_SHOWN)
      const span: KeyedSpan = {
        sessionId: session,
        kind: 'pause',
        name: reason,
        title,
        turn: turn ?? 0,
        attempt: 1,
        begunAt: at,
      }
      open.set(session, span)
      spans.push(span)
    } else if (type !== 'step.taken_over' && !type.startsWith('pending.')) {
      end(open.get(session), at, type === 'session.resumed' ? 'succeeded' : 'cancelled')
      open.delete(session)
    }
  }
  return spans
}

/** The first end counts. */
function end(span: KeyedSpan | undefined, at: Date, outcome: 'succeeded' | 'cancelled'): void {
  if (span && span.endedAt === undefined) Object.assign(span, { endedAt: at, outcome })
}
