/**
 * What crosses between the workflow and its activities. Everything here is JSON, bounded, and holds references and
 * previews only: never a conversation, never whole arguments or results.
 */
import type { ToolErrorCode } from '../core/errors.ts'
import type { Pause } from '../core/pause.ts'
import type { Usage } from '../core/message.ts'
import type { SessionConfig } from './config.ts'
import type { Limits } from './limits.ts'
import type { Answer, PendingRef } from './pending.ts'

/**
 * Why a turn ended: `end_turn` the model had answered; `completed` a tool ended it; `max_tool_rounds` its rounds were
 * used up; `max_tokens` the answer was cut at its limit; `refused` the model refused; `cancelled` and `closed` somebody
 * stopped it.
 */
export type StopReason =
  | 'end_turn'
  | 'max_tool_rounds'
  | 'completed'
  | 'cancelled'
  | 'closed'
  | 'refused'
  | 'max_tokens'

/** Where a step stands. The run id itself is read from Temporal by the activity: a reset gives the same input a new run. */
export interface StepRef {
  sessionId: string
  /** Unique within a generation, e.g. `m3.0` (turn 3, round 0), `t3.0.2` (its third call). */
  key: string
  /** The generation the workflow last heard of; the store decides. */
  gen: number
  /** The run this one continued, if any. */
  prevRunId?: string
  /**
   * The run that asks, where it was started, neither rewound nor continued, and has not been told yet where the session
   * stands: all that is known of it stands in the store. By its id, since a reset hands this input on to a run of its own.
   */
  fresh?: string
  /** Identity of the store the session is in; absent where its workflow was started before there were identities. */
  store?: string
  turn: number
  /** Last record of the closed part of the transcript this step builds on. */
  base: number
  place: Place
}

/** How far the session had come when it asked for a step: where a run that Temporal has rewound parts from the past. */
export interface Place {
  /** Last record given out. */
  seq: number
  /** Announcements made. */
  told: number
  /** The round of the turn under way; unset between turns. */
  round?: number
  /** Its model step, and so the whole round, is not answered yet. */
  asking?: true
  paused?: true
}

/** A user message that a turn opens with. `text` is absent when the body is in the table `messages`. */
export interface Opening {
  messageId: string
  text?: string
}

export interface CallModelInput extends StepRef {
  /** The user message the turn answers. */
  messageId: string
  round: number
  /** Last record the model is shown; the answer is written at `upTo + 1`. */
  upTo: number
  /** On round 0: the message, written as record `upTo`. */
  opening?: Opening
  /** The round limit is reached: calls the model still asks for are answered, not run, and the turn ends. */
  last: boolean
}

/** How a tool call is carried out: by one activity, or by a child session that is awaited or not. */
export type CallRoute = 'tool' | 'fork' | 'task'

/** One call the model asked for: enough to schedule it and to show it. */
export interface CallRef {
  id: string
  name: string
  /** The tool's name for people, 40 bytes at most. */
  title?: string
  route: CallRoute
  /** ≤ 100 bytes of the arguments, for summaries. */
  preview: string
  timeoutMs: number
}

export interface ModelAnswer {
  kind: 'answered'
  gen: number
  /** Last record written (limit notes come after the answer itself). */
  seq: number
  calls: CallRef[]
  /** ≤ 1 KB. */
  text: string
  usage: Usage
  /** Set when the answer ended the turn. */
  stopReason?: StopReason
}

/** Nothing was begun: the session is paused, or, with `closing`, closed or to be closed. */
export interface NotStarted {
  kind: 'notStarted'
  closing?: true
}

export type ModelOutcome =
  | ModelAnswer
  | { kind: 'cancelled'; gen: number }
  /** The message was answered by an earlier turn, or cannot be read (`reason`): this turn never was. */
  | { kind: 'duplicate'; gen: number; reason?: string }
  /** Nothing was settled; the same step runs again after `resume`. */
  | { kind: 'failed'; pause: Pause }
  | NotStarted

/** What a call is known by, the last of it to people. */
export type CallNames = Pick<CallRef, 'id' | 'name' | 'title'>

export interface CallToolInput extends StepRef {
  /** The user message the turn answers. */
  messageId: string
  round: number
  index: number
  call: CallNames
  /** The record that holds the full arguments: always `base`. Its result is written here: */
  seq: number
}

/** The settled end of a call, as the workflow keeps it. */
export interface CallResult {
  kind: 'settled'
  gen: number
  isError: boolean
  code?: ToolErrorCode
  /** What the tool calls its failure, 40 bytes at most: its `error.code`, else `error.type`. */
  error?: string
  /** ≤ 1 KB of what the model reads. */
  preview: string
  durationMs: number
  /** `attempt_completion`: the turn ends with this call's result. */
  endsTurn?: boolean
}

export interface ChildStart {
  sessionId: string
  config: Pick<SessionConfig, 'agent' | 'label' | 'profile'>
  /** The message a `new_task` child begins with; its body is in the table `messages`. */
  messageId?: string
}

/** Parked in the ledger until a person answers. */
export interface Waiting {
  kind: 'pending'
  gen: number
  item: PendingRef
}

export type ToolOutcome =
  | CallResult
  | Waiting
  /** Given back as never begun: it may be run. */
  | { kind: 'due'; gen: number }
  /** A child was prepared: start it. With `result`, the call is settled already (a fork); without, its answer is awaited. */
  | { kind: 'childOpened'; gen: number; child: ChildStart; result?: CallResult }
  | { kind: 'failed'; pause: Pause }
  | NotStarted

/** What the workflow proposes for a call whose activity ended without an outcome; the ledger decides. */
export type Proposal =
  | { kind: 'cancelled' }
  | { kind: 'timedOut' }
  | { kind: 'childEnded'; childId: string; childGen: number; childTurn: number }
  | { kind: 'childLost'; childId: string; message: string }
  | { kind: 'answered'; answer: Answer }

/** How the activity of a step ended without an outcome. */
export type LostHow = 'cancelled' | 'timedOut'

export interface SettleModelInput {
  step: CallModelInput
  proposed: LostHow
}

export interface SettleToolInput {
  step: CallToolInput
  proposed: Proposal
  /** The call may have a child that the workflow has not heard of; a child that was prepared is to be started. */
  opening?: true
}

/** What the workflow knows of its model. */
export interface ModelFacts {
  name: string
  /** Time-out of one call, milliseconds. */
  timeoutMs: number
}

/** The base of every run: `key` is `open`, `base` what the state already knows. */
export type OpenSessionInput = StepRef

export type OpenSessionOutcome =
  | {
      kind: 'opened'
      gen: number
      seq: number
      turn: number
      limits: Limits
      model: ModelFacts
      /** Has held the session since an earlier workflow of it. */
      pause?: Pause
      /** A cascade from above has reached it: it is to close. */
      closing?: true
      /** A message that an earlier workflow of this session took and did not answer; its body is in the store. */
      unanswered?: string
    }
  | { kind: 'closed' }
  | { kind: 'failed'; pause: Pause }

export interface DescribeChildrenInput {
  /** Session ids. */
  children: string[]
}

export interface EndedChild {
  childId: string
  /** For the model: what became of the child. */
  how: string
}

/** A child's answer to the call that awaits it; sent as a signal to the parent's workflow id. */
export interface ChildReport {
  childId: string
  childGen: number
  childTurn: number
  /** The step key of the call in the parent. */
  callKey: string
}
