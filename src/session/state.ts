/**
 * Everything a session workflow remembers. It is plain JSON of at most 256 KB whatever happens: each list has a bound,
 * texts are references or previews, measured in bytes of JSON. It survives replay, crashes and continue-as-new as it is.
 */
import { brief } from '../core/message.ts'
import type { Refusal } from '../protocol/announcements.ts'
import { DEFAULT_LIMITS, MODEL_TIMEOUT_MS, type Limits } from '../protocol/limits.ts'
import { LABEL_SHOWN, type Awaited, type NewSession } from '../protocol/session-input.ts'
import type { SessionStatus, ToolStats, Totals } from '../protocol/views.ts'
import type {
  CallRef,
  CallResult,
  ChildReport,
  ModelFacts,
  Opening,
  Place,
  StepRef,
  StopReason,
} from '../protocol/steps.ts'
import type { Pause } from '../core/pause.ts'
import type { Answer, PendingRef } from '../protocol/pending.ts'

/** Message ids remembered for deduplication, whole; older ones are found in the store when a turn opens. */
export const SEEN_LIMIT = 200
/** Messages that may wait. */
export const QUEUE_LIMIT = 200
/** Bytes of waiting messages kept in the state; more goes to the store. */
export const QUEUE_TEXT_LIMIT: number = 8 * 1024
/** Bytes of answers that are on their way to the ledger. */
export const ANSWERS_TEXT_LIMIT: number = 8 * 1024
/** Tool calls of one session that run at once. */
export const PARALLEL_CALLS = 32
/** Tools with statistics of their own; the rest is counted under `(other)`. */
export const STATS_LIMIT = 200
/** Failures that are counted by name, of all tools together; those beyond are only counted as failures. */
export const ERRORS_LIMIT = 40
/** Tools whose time-outs in a row are counted. */
export const TIMEOUTS_LIMIT = 100
/** Forks shown in the current details. */
export const FORKS_SHOWN = 20
/** Children that are told to close at once: Temporal takes 2,000 signals that are on their way, and 4 MiB. */
export const CHILDREN_AT_ONCE = 100
/** Refusals that the store is told of at once. */
export const REFUSALS_AT_ONCE = 200
/** Refusals that the next run may tell of. */
export const REFUSALS_CARRIED = 16
/** Pauses and resumes on their way to the store: beyond these, only what holds in the end is told. */
export const SWITCHES_AT_ONCE = 8
/** What a run that is to end may still tell of refusals, pauses and resumes; the rest is told by the next. */
export const TELLS_AT_REST = 100
/** Reports of children whose call is not known (yet). */
export const REPORTS_LIMIT = 100

export type CallStatus = 'due' | 'running' | 'waiting' | 'settling' | 'done'

export interface Call extends CallRef {
  index: number
  /** The record its result is written to. */
  seq: number
  status: CallStatus
  /** The child it waits for. */
  child?: { sessionId: string; label: string }
  /** What it waits to hear from a person. */
  pending?: PendingRef
  /** What a person said, until the ledger has taken it. */
  answer?: Answer
  result?: CallResult
}

export interface Turn {
  n: number
  opening: Opening
  round: number
  phase: 'model' | 'tools' | 'ending'
  /** In phase `model` and `ending`: whether the step is under way. */
  running: boolean
  /** Last record of the closed part of the transcript. */
  base: number
  calls: Call[]
  /** Why the turn is being ended before the model rests. */
  stopping?: Extract<StopReason, 'cancelled' | 'closed' | 'completed'>
}

/** A message that waits for its turn; `storing` = its text is on its way to the store. */
export interface Queued extends Opening {
  storing?: true
}

/** A close under way; `after`: the last of the children that have been told, where more are to be. */
export interface Closing {
  cascade: boolean
  announced: boolean
  after?: string
}

export interface SessionState {
  sessionId: string
  label: string
  /** Set for a `new_task` child: it reports its first turn and closes. */
  awaited?: Awaited
  opened: boolean
  /** This run could not be opened; a resume asks again. */
  openFailed?: true
  gen: number
  /** Last record given out. */
  seq: number
  /** Turns begun. */
  turns: number
  turn?: Turn
  queue: Queued[]
  /** The first of them is cancelled: its turn ends without a question to the model. */
  cancelNext?: true
  /** The last message ids that were taken or refused, for deduplication. */
  seen: string[]
  /** What was refused and is not told yet, as it will be told: batch by batch. */
  refusals?: Refusal[][]
  /** The announcement that tells of the refusals before these. */
  refusing?: string
  limits: Limits
  model: ModelFacts
  pause?: Pause
  /** The announcement that tells the store of a resume, or that none does yet; until it is answered, nothing starts. */
  resuming?: string
  /** Announcements of pauses and resumes on their way. */
  switches?: string[]
  /** The last pause or resume is not on its way yet. */
  switchWaits?: true
  /** A resume came before the session was opened: a pause that the store tells of then is older. */
  resumed?: true
  /** The run is about to continue as new; nothing starts in this one. */
  resting?: true
  /** What this run has told although it is about to end. */
  toldAtRest?: number
  closing?: Closing
  closed: boolean
  /** Consecutive time-outs by tool name. */
  timeouts: Record<string, number>
  stats: Record<string, ToolStats>
  totals: Totals
  forks: { id: string; label: string }[]
  reports: ChildReport[]
  /** Counts announcements, so that each has a key of its own. */
  announcements: number
  lastAnswer: string
  lastStop?: StopReason
}

/** Of the messages to begin with, one may have been under way and the others have waited: these are not refused again. */
const TAKEN_LIMIT = QUEUE_LIMIT + 1

/** The messages to begin with that `initialState` leaves out: nobody has taken them yet. */
export function notTaken({ messages = [] }: NewSession): string[] {
  return messages.slice(TAKEN_LIMIT)
}

export function initialState(session: NewSession): SessionState {
  const messages = (session.messages ?? []).slice(0, TAKEN_LIMIT)
  return {
    sessionId: session.sessionId,
    label: brief(session.label, LABEL_SHOWN),
    ...(session.awaited && { awaited: session.awaited }),
    opened: false,
    gen: 0,
    seq: 0,
    turns: 0,
    queue: messages.map((messageId) => ({ messageId })),
    seen: messages.slice(-SEEN_LIMIT),
    limits: DEFAULT_LIMITS,
    model: { name: 'model', timeoutMs: MODEL_TIMEOUT_MS },
    closed: false,
    timeouts: {},
    stats: {},
    totals: { turns: 0, modelCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0 },
    forks: [],
    reports: [],
    announcements: 0,
    lastAnswer: '',
  }
}

export function placeOf({ seq, announcements, turn, pause }: SessionState): Place {
  return {
    seq,
    told: announcements,
    ...(turn && { round: turn.round, ...(turn.phase === 'model' && { asking: true }) }),
    ...(pause && { paused: true }),
  }
}

/** What the inputs of a turn's model and tool steps have in common. */
export function stepOf(state: SessionState, turn: Turn, key: string): StepRef & { messageId: string; round: number } {
  return {
    sessionId: state.sessionId,
    key,
    gen: state.gen,
    turn: turn.n,
    base: turn.base,
    place: placeOf(state),
    messageId: turn.opening.messageId,
    round: turn.round,
  }
}

/** What people see: waiting means that every unfinished call waits for a child or a person. */
export function status(state: SessionState): SessionStatus {
  if (state.closed || state.closing) return 'closed'
  if (state.pause) return 'paused'
  if (!state.turn) return state.queue.length > 0 ? 'running' : 'idle'
  if (state.turn.phase !== 'tools') return 'running'
  const open = state.turn.calls.filter((call) => call.status !== 'done')
  return open.length > 0 && open.every((call) => call.status === 'waiting') ? 'waiting' : 'running'
}
