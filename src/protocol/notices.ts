/** What people are told outside of a session when something in it waits for them. Bounded JSON. */
import type { Pause } from '../core/pause.ts'
import type { PendingKind } from './pending.ts'
import type { StepRef } from './steps.ts'

/** One thing that waits for a person. */
export interface Notice {
  /** The same whenever the same thing is told: whoever gets a key twice has heard of it before. */
  key: string
  /** The session that waits. */
  sessionId: string
  /** Its name for people. */
  label: string
  /** The agent that serves it. */
  agent: string
  /** What waits: a question, or `paused`. */
  kind: PendingKind | 'paused'
  /** What people read: the question, or why the session is paused. At most 1,000 characters. */
  message: string
  /** The id of the question. */
  id?: string
  /** The name of the tool that waits. */
  name?: string
  /** The beginning of the call's arguments. */
  preview?: string
  /** Until when the question waits, ISO 8601. */
  expiresAt?: string
  /** The command that lets the session go on. */
  command: string
}

/** Tells people of a question or a pause. Its key is that of the notice. */
export interface NotifyInput extends StepRef {
  about: { call: string; id: string } | { pause: Pick<Pause, 'reason' | 'message'> }
}
