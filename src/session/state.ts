/**
 * Everything that a session workflow remembers. It is plain JSON and never larger than 256 KB: each list has a bound,
 * and texts are references or previews, measured in bytes of JSON. Replay, crashes and continue-as-new keep it
 * unchanged.
 */
import { brief } from '../core/message.ts'
import type { Refusal } from '../protocol/announcements.ts'
import { DEFAULT_LIMITS, MODEL_TIMEOUT_MS, type Limits } from '../protocol/limits.ts'
import { LABEL_SHOWN, type Awaited, type NewSession, type Tells } from '../protocol/session-input.ts'
import type { SessionStatus, ToolStats, Totals } from '../protocol/views.ts'
import type {
  Awaits,
  CallRef,
  CallResult,
  ChildReport,
  ModelFacts,
  Opening,
  Place,
  StepRef,
  StopReason,
  WeatherReport,
} from '../protocol/steps.ts'
import type { Pause } from '../core/pause.ts'
import type { WaitingRef } from '../protocol/pending.ts'
import type { Answer } from '../protocol/read-answer.ts'

/** Message ids that are remembered for deduplication. Older ones are found in the store when a turn opens. */
export const SEEN_LIMIT = 200
/** Most messages that may wait. */
export const QUEUE_LIMIT = 200
/** Most bytes of waiting messages in the state. The rest goes to the store. */
export const QUEUE_TEXT_LIMIT: number = 8 * 1024
/** Most bytes of answers that are on their way to the ledger. */
export const ANSWERS_TEXT_LIMIT: number = 8 * 1024
/** Most tool calls of one session that run at the same time. */
export const PARALLEL_CALLS = 32
/** Most tools with statistics of their own. The others are counted under `(other)`. */
export const STATS_LIMIT = 200
/** Most names of failures that are counted, over all tools. A failure with another name is counted without its name. */
export const ERRORS_LIMIT = 40
/** Most tools whose consecutive time-outs are counted. */
export const TIMEOUTS_LIMIT = 100
/** Most forks in the current details. */
export const FORKS_SHOWN = 20
/** Most children that are told to close at the same time. Temporal allows 2,000 signals on their way, and 4 MiB. */
export const CHILDREN_AT_ONCE = 100
/** Most refusals in one announcement. */
export const REFUSALS_AT_ONCE = 200
/** Most refusals that are left for the next run to tell. */
export const REFUSALS_CARRIED = 16
/** Most pauses and resumes on their way to the store. Of further ones, only the last is told. */
export const SWITCHES_AT_ONCE = 8
/** Most refusals, pauses and resumes that a run tells when it will end soon. The next run tells the rest. */
export const TELLS_AT_REST = 100
/** Most reports of children whose call is not known, or not known yet. */
export const REPORTS_LIMIT = 100

export type CallStatus = 'due' | 'running' | 'waiting' | 'settling' | 'done'

export interface Call extends CallRef {
  index: number
  /** The record that holds its result. */
  seq: number
  status: CallStatus
  /** The child that it waits for. */
  child?: { sessionId: string; label: string }
  /** The wait for agents that its last attempt ended with. */
  awaits?: Awaits
  /** An agent has told something while the call ran: if the call waits now, it looks again. */
  heard?: true
  /** The question that it waits for a person to answer. */
  pending?: WaitingRef
  /** The time of its question is over, until the ledger has taken that. */
  expired?: true
  /** A person's answer, until the ledger has taken it. */
  answer?: Answer
  result?: CallResult
}

export interface Turn {
  n: number
  opening: Opening
  round: number
  phase: 'model' | 'tools' | 'ending'
  /** In the phases `model` and `ending`: whether the step is under way. */
  running: boolean
  /** The model call under way waits for its provider. */
  weather?: Pick<WeatherReport, 'provider' | 'why' | 'since'>
  /** Last record of the closed part of the transcript. */
  base: number
  calls: Call[]
  /** The prompt of the round is too long, or was. */
  fit?: Fit
  /** The provider refuses the turn's request for good, because of a record of the turn. */
  refused?: true
  /** Why the turn is ended although the model has not finished. */
  stopping?: Extract<StopReason, 'cancelled' | 'closed' | 'completed'>
}

/** How a turn's prompts are made to fit. */
export interface Fit {
  /** How often the provider has refused a prompt of the turn as too long. */
  refusals: number
  /** How many messages the summary stands for that was not enough. */
  standsFor?: number
  /** Older records must be summarised before the model is asked again. */
  due?: true
  /** Nothing more can be summarised, so the model is asked with whatever there is. */
  asIs?: true
}

/** A message that waits for its turn. `storing`: its text is on its way to the store. */
export interface Queued extends Opening {
  storing?: true
}

/** A close under way. `after`: the last child that was told, if more children must be told. */
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
  /** Set for an agent: it tells its parent about each turn that has ended, and about its close. */
  tells?: Tells
  opened: boolean
  /** The workflow was started anew, and no run of it was opened yet: only the store knows how far the session has come. */
  fresh?: true
  /** The session could not be opened in this run. A resume asks the store again. */
  openFailed?: true
  gen: number
  /** The last record number that was given out. */
  seq: number
  /** How many turns have begun. */
  turns: number
  /** The generation of the working folder that the session knows. Unset: it has used none yet. */
  workspace?: number
  /** How many turns this session has ended because a provider refused them. Models no longer read their records. */
  leftOut?: number
  turn?: Turn
  queue: Queued[]
  /** The first message in the queue is cancelled: its turn ends before the model is asked. */
  cancelNext?: true
  /**
   * A stop came before the first opening in this workflow. It means the turn that the opening may find. If there is none,
   * `session` closes the session.
   */
  stopFound?: 'turn' | 'session'
  /** The last message ids that were taken or refused, for deduplication. */
  seen: string[]
  /** Refusals that are not told yet, in the batches in which they will be told. */
  refusals?: Refusal[][]
  /** The key of the announcement that is telling the earlier refusals. */
  refusing?: string
  limits: Limits
  model: ModelFacts
  pause?: Pause
  /** How often in a row the session has tried by itself to go on, if it does so now or has paused again. */
  tries?: number
  /**
   * The key of the announcement that tells the store about a resume, or the placeholder `UNTOLD` while none does yet.
   * Nothing starts until it is answered.
   */
  resuming?: string
  /** Keys of the announcements of pauses and resumes that are on their way. */
  switches?: string[]
  /** The last pause or resume still waits to be told to the store. */
  switchWaits?: true
  /** A resume came before the session was opened. If the store reports a pause at the opening, that pause is older. */
  resumed?: true
  /** An older version has begun this run, in which steps that were under way could undo what people had stopped. */
  older?: true
  /** An older version has begun this run, in which agents also woke calls that waited for a person. */
  wakesAsking?: true
  /** The run will continue as new soon. Nothing starts in this one. */
  resting?: true
  /** How many refusals, pauses and resumes this run has told since it is about to end. */
  toldAtRest?: number
  /** The key of the notice of the pause, until people outside were told. */
  telling?: string
  /** How many compactions have ended. */
  compactions?: number
  /** The key of the compaction under way. */
  compacting?: string
  /** A person has asked for a compaction. It begins between turns. */
  compactAsked?: true
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

/**
 * Most messages to begin with: one that was under way and a full queue. They were taken before, so they are not refused
 * now.
 */
const TAKEN_LIMIT = QUEUE_LIMIT + 1

/** The messages to begin with that `initialState` leaves out. Nobody has taken them yet. */
export function notTaken({ messages = [] }: NewSession): string[] {
  return messages.slice(TAKEN_LIMIT)
}

export function initialState(session: NewSession): SessionState {
  const messages = (session.messages ?? []).slice(0, TAKEN_LIMIT)
  return {
    sessionId: session.sessionId,
    label: brief(session.label, LABEL_SHOWN),
    ...(session.awaited && { awaited: session.awaited }),
    ...(session.tells && { tells: session.tells }),
    opened: false,
    fresh: true,
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

/** The common part of the inputs of a turn's model and tool steps. */
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
    ...(state.tries !== undefined && { tries: state.tries }),
  }
}

/**
 * The status that people see. `waiting` means that every unfinished call waits for a child or a person, or that the model
 * call waits for its provider.
 */
export function status(state: SessionState): SessionStatus {
  if (state.closed || state.closing) return 'closed'
  if (state.pause) return 'paused'
  if (!state.turn) return state.queue.length > 0 || state.compacting !== undefined ? 'running' : 'idle'
  if (state.turn.phase !== 'tools') return state.turn.weather ? 'waiting' : 'running'
  const open = state.turn.calls.filter((call) => call.status !== 'done')
  return open.length > 0 && open.every((call) => call.status === 'waiting') ? 'waiting' : 'running'
}
