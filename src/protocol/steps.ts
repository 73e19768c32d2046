/**
 * The data that the workflow and its activities exchange. All of it is JSON of limited size. It has references and
 * previews, but never a conversation and never whole arguments or results.
 */
import type { ToolErrorCode } from '../core/errors.ts'
import type { Pause } from '../core/pause.ts'
import type { Usage } from '../core/message.ts'
import type { SessionConfig } from './config.ts'
import type { Limits } from './limits.ts'
import type { WaitingRef } from './pending.ts'
import type { Answer } from './read-answer.ts'

/**
 * Why a turn ended. `end_turn`: the model had answered. `completed`: a tool ended it. `max_tool_rounds`: its rounds
 * were used up. `max_tokens`: the answer was cut at its limit. `refused`: the model refused. `cancelled` and `closed`:
 * somebody stopped it.
 */
export type StopReason =
  | 'end_turn'
  | 'max_tool_rounds'
  | 'completed'
  | 'cancelled'
  | 'closed'
  | 'refused'
  | 'max_tokens'

/**
 * The place of a step. The activity reads the run id itself from Temporal, because a reset gives the same input to a
 * new run.
 */
export interface StepRef {
  sessionId: string
  /** Unique within a generation, e.g. `m3.0` (turn 3, round 0), `t3.0.2` (its third call). */
  key: string
  /** The last generation that the workflow knows. The store decides which one is right. */
  gen: number
  /** The run that this one continued as new from, if any. */
  prevRunId?: string
  /**
   * The id of the asking run, if it was started anew (not rewound, not continued) and does not know yet how far the
   * session has come: only the store knows that. It is an id and not a flag, because a reset gives this input to
   * another run.
   */
  fresh?: string
  /** Identity of the store that holds the session. Unset if its workflow was started before stores had identities. */
  store?: string
  turn: number
  /** Last record of the closed part of the transcript that this step builds on. */
  base: number
  place: Place
  /**
   * Set for a try that the paused session makes by itself: the number of such tries in a row. If the weather is still bad,
   * the session pauses again at once.
   */
  tries?: number
}

/**
 * How far the session had come when it asked for a step. A run that Temporal has rewound branches off from the past
 * here.
 */
export interface Place {
  /** The last record number that was given out. */
  seq: number
  /** How many announcements were made. */
  told: number
  /** The round of the turn under way; unset between turns. */
  round?: number
  /** The round's model step has no answer yet, so the whole round is open. */
  asking?: true
  paused?: true
}

/** The user message that opens a turn. `text` is unset when the body is in the table `messages`. */
export interface Opening {
  messageId: string
  text?: string
}

export interface CallModelInput extends StepRef {
  /** The user message the turn answers. */
  messageId: string
  round: number
  /** The last record that the model is shown. The answer becomes record `upTo + 1`. */
  upTo: number
  /** In round 0: the message, which becomes record `upTo`. */
  opening?: Opening
  /** How many turns of the session models no longer read, as far as the workflow knows. Unset: none. */
  leftOut?: number
  /** How often the provider has refused the turn's prompts as too long. Unset: never. The more often, the shorter it gets. */
  refusals?: number
  /** Nothing more can be summarised: ask, however long the prompt is. */
  asIs?: true
  /** The round limit is reached. Further calls of the model are answered but not run, and the turn ends. */
  last: boolean
}

/**
 * How a tool call is carried out: `tool` by one activity, `task` by a child whose answer is awaited, `fork` by a child
 * that is not awaited.
 */
export type CallRoute = 'tool' | 'fork' | 'task'

/** One call that the model asked for, with enough data to schedule it and to show it. */
export interface CallRef {
  id: string
  name: string
  /** The tool's name for people, 40 bytes at most. */
  title?: string
  route: CallRoute
  /** It begins only when every ordered call before it is done. */
  ordered?: true
  /** ≤ 100 bytes of the arguments, for summaries. */
  preview: string
  timeoutMs: number
}

export interface ModelAnswer {
  kind: 'answered'
  gen: number
  /** The last record that was written. Notes about the round limit come after the answer itself. */
  seq: number
  calls: CallRef[]
  /** ≤ 1 KB. */
  text: string
  usage: Usage
  /** Set when the answer ended the turn. */
  stopReason?: StopReason
}

/** Nothing was begun, because the session is paused. With `closing`: because it is closed or must be closed. */
export interface NotStarted {
  kind: 'notStarted'
  closing?: true
}

export type ModelOutcome =
  | ModelAnswer
  | { kind: 'cancelled'; gen: number }
  /**
   * An earlier turn answered the message, or the message cannot be read (`reason`). This turn counts as if it had never
   * begun.
   */
  | { kind: 'duplicate'; gen: number; reason?: string }
  /**
   * The prompt is too long, by our estimate or as the provider has said (`refused`). Nothing was settled. `standsFor`: how
   * many messages the summary in the prompt stands for.
   */
  | { kind: 'full'; gen: number; refused: boolean; standsFor: number }
  /**
   * Nothing was settled. The same step runs again after `resume`. `refused`: the provider refuses the request for good,
   * because of a record of this turn.
   */
  | (Failed & { refused?: true })
  | NotStarted

/** The step pauses the session. Nothing was settled. */
export interface Failed {
  kind: 'failed'
  pause: Pause
  /** Milliseconds until the pause's next try, from a worker: the workflow makes `nextTryAt` of it, by its own clock. */
  nextTryMs?: number
}

/** Summarises older records of the transcript. */
export interface CompactInput extends StepRef {
  /** The last record of the transcript that it works on. */
  upTo: number
  /** The round that waits for it; unset between turns. */
  round?: number
  /** How often the provider has refused the prompts of the turn. */
  refusals: number
  /** How many messages the insufficient summary stands for. If a summary now stands for more, nothing is left to do. */
  standsFor?: number
  /** A person has asked for it. */
  asked?: true
}

export type CompactOutcome =
  /** `done`: a summary stands for more records than before. `usage`: of the model that was asked for it. */
  | { kind: 'compacted'; gen: number; done: boolean; usage?: Usage }
  | { kind: 'cancelled'; gen: number }
  /** The provider is away for too long. */
  | Failed
  | NotStarted

/** The names of a call. `title` is for people. */
export type CallNames = Pick<CallRef, 'id' | 'name' | 'title'>

export interface CallToolInput extends StepRef {
  /** The user message the turn answers. */
  messageId: string
  round: number
  index: number
  call: CallNames
  /** The record for the call's result. The full arguments are always in record `base`. */
  seq: number
  /** The generation of the working folder that the session knows. Unset: it has used none yet. */
  workspace?: number
  /** The host to which the call was sent, and the generation there. `untaken`: nobody there took it in time. */
  sent?: { host: string; generation: number; untaken?: true }
  /** The wait for agents that the call's last attempt ended with. */
  waited?: Awaits
}

/** A call that waits for agents: children that it may ask again. It then runs again from its beginning. */
export interface Awaits {
  /** Which wait of the call it is, from 0. */
  nth: number
  /** Session ids of those that it still waits for. */
  agents: string[]
  /** When it waits no longer, ISO 8601. Unset: it waits for ever. */
  until?: string
  /** Milliseconds until then, from a worker: the workflow makes `until` of it, by its own clock. */
  leftMs?: number
  /** That time has come. */
  over?: true
  /** The agents work for this call alone: a stop of the turn stops them too. */
  stops?: true
}

/** The settled end of a call, as the workflow keeps it. */
export interface CallResult {
  kind: 'settled'
  gen: number
  isError: boolean
  code?: ToolErrorCode
  /** The tool's own name for its failure, 40 bytes at most: `error.code`, or else `error.type`. */
  error?: string
  /** ≤ 1 KB of what the model reads. */
  preview: string
  durationMs: number
  /** The turn ends with this call's result (`attempt_completion`). */
  endsTurn?: boolean
  /** The generation of the working folder that the session knows from now on. Unset: the call used none. */
  workspace?: number
}

export interface ChildStart {
  sessionId: string
  config: Pick<SessionConfig, 'agent' | 'label' | 'profile'>
  /** The message that a `new_task` child begins with. Its body is in the table `messages`. */
  messageId?: string
}

/** Parked in the ledger until a person answers. */
export interface Waiting {
  kind: 'pending'
  gen: number
  item: WaitingRef
  /** The answer that was proposed does not fit the question: why. ≤ 500 bytes. */
  refused?: string
  /** How long the question still waits for an answer, milliseconds. Unset: for ever. */
  leftMs?: number
}

/** Nothing has begun: the call must run on the host that has the session's working folder. */
export interface Elsewhere {
  kind: 'elsewhere'
  host: string
  generation: number
  /** How long the call may wait there until somebody asks whether the host is gone, milliseconds. */
  withinMs: number
}

export type ToolOutcome =
  | CallResult
  | Waiting
  /** Given back as if it had never begun: it may run. */
  | { kind: 'due'; gen: number }
  /**
   * A child was prepared and must be started. With `result` the call is settled already (a fork); without, it waits for
   * the child's answer.
   */
  | { kind: 'childOpened'; gen: number; child: ChildStart; result?: CallResult }
  /** Given back: it runs again when one of the agents has something to tell, or when its time is over. */
  | { kind: 'awaits'; gen: number; awaits: Awaits }
  | Failed
  | NotStarted

/** What the workflow proposes for a call whose activity ended without an outcome. The ledger decides. */
export type Proposal =
  | { kind: 'cancelled' }
  | { kind: 'timedOut' }
  | { kind: 'childEnded'; childId: string; childGen: number; childTurn: number }
  | { kind: 'childLost'; childId: string; message: string }
  | { kind: 'answered'; answer: Answer }
  /** Nobody has answered the question with that id in time. */
  | { kind: 'expired'; id: string }

/** How the activity of a step ended without an outcome. */
export type LostHow = 'cancelled' | 'timedOut'

export interface SettleModelInput {
  step: CallModelInput
  proposed: LostHow
}

export interface SettleToolInput {
  step: CallToolInput
  proposed: Proposal
  /** The call may have a child that the workflow does not know. If a child was prepared, it must be started. */
  opening?: true
}

/** What the workflow knows about its model. */
export interface ModelFacts {
  name: string
  /** Time-out of one call, milliseconds. */
  timeoutMs: number
}

/** The input of each run's first activity. `key` is `open`, and `base` is the last record that the state knows. */
export type OpenSessionInput = StepRef

export type OpenSessionOutcome =
  | {
      kind: 'opened'
      gen: number
      seq: number
      turn: number
      limits: Limits
      model: ModelFacts
      /** A pause that an earlier workflow of the session left. */
      pause?: Pause
      /** A cascade from above has reached the session, so it must close. */
      closing?: true
      /** A message that an earlier workflow of the session took and did not answer. Its body is in the store. */
      unanswered?: string
    }
  | { kind: 'closed' }
  /** `found`: nothing went wrong, the session was paused already. */
  | (Failed & { found?: true })

export interface DescribeChildrenInput {
  /** Session ids. */
  children: string[]
}

export interface EndedChild {
  childId: string
  /** For the model: what happened to the child. */
  how: string
}

/** A child's answer to the call that awaits it. It is sent as a signal to the parent's workflow id. */
export interface ChildReport {
  childId: string
  childGen: number
  childTurn: number
  /** The step key of the call in the parent. */
  callKey: string
}

/** An agent has ended a turn, or was closed. It is sent as a signal to the parent's workflow id, each time. */
export interface AgentReport {
  childId: string
  childGen: number
  /** 0: it was closed. */
  childTurn: number
  /** The parent that does not wait for it gets this text as a message. Unset: it gets none. */
  message?: string
}

/** A round's model call waits for its provider. It is sent as a signal to the session's own workflow. */
export interface WeatherReport {
  turn: number
  round: number
  /** Who is away. */
  provider: string
  /** In a few words. */
  why: string
  /** Since when, ISO 8601. */
  since: string
}
