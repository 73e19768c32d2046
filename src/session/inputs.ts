/**
 * Everything that can happen to a session, in the past tense. Each input is JSON and brings its times and ids along.
 */
import type { ErrorCode } from '../core/errors.ts'
import type { AnnounceOutcome } from '../protocol/announcements.ts'
import type {
  AgentReport,
  ChildReport,
  CompactInput,
  CompactOutcome,
  LostHow,
  ModelOutcome,
  OpenSessionOutcome,
  ToolOutcome,
  WeatherReport,
} from '../protocol/steps.ts'
import type { Answer } from '../protocol/read-answer.ts'

export type Input =
  /**
   * `older` and `wakesAsking`: an older version has begun the run. It replays as it was recorded: people's stops did not
   * hold, and agents woke calls that waited for a person.
   */
  | { type: 'runStarted'; older?: true; wakesAsking?: true }
  /** The run has grown long, so it must end at the next quiet point. */
  | { type: 'runFilled' }
  /**
   * `older`: an older version has recorded it. There, a waiting message or a stop kept an answered task from its report, a
   * task without a message did not close, and an agent that was started anew told its parent nothing.
   */
  | { type: 'sessionOpened'; outcome: OpenSessionOutcome; older?: true }
  | { type: 'messageReceived'; messageId: string; text?: string }
  | { type: 'messageRejected'; reason: string; preview: string }
  | { type: 'answered'; answer: Answer }
  | { type: 'answerRejected'; reason: string; preview: string }
  | { type: 'modelEnded'; turn: number; round: number; outcome: ModelOutcome }
  /** The activity ended and did not tell the outcome, so the ledger must be asked. */
  | { type: 'modelLost'; turn: number; round: number; how: LostHow }
  /** A model call under way waits for its provider. */
  | { type: 'weatherReported'; report: WeatherReport }
  | { type: 'compacted'; key: string; outcome: CompactOutcome }
  /** The activity ended and did not tell the outcome, so the ledger must be asked. */
  | { type: 'compactionLost'; key: string; input: CompactInput }
  | { type: 'compactRequested' }
  | { type: 'toolEnded'; turn: number; round: number; index: number; outcome: ToolOutcome }
  | { type: 'toolLost'; turn: number; round: number; index: number; how: LostHow }
  | { type: 'childReported'; report: ChildReport }
  /** The child's workflow ended without a report, or never started. */
  | { type: 'childVanished'; callKey: string; childId: string; message: string }
  | { type: 'agentReported'; report: AgentReport }
  /** The time of a call that waits for agents is over. */
  | { type: 'waitOver'; callKey: string; until: string }
  /** People outside were told, or cannot be. `key`: of the notice. */
  | { type: 'peopleNotified'; key: string }
  /** The time for an answer to that question is over. */
  | { type: 'askingOver'; callKey: string; id: string }
  | { type: 'announced'; key: string; tag: AnnounceTag; outcome: AnnounceOutcome; messageId?: string }
  /** The children up to this one, in the order of their ids, know that they must close. */
  | { type: 'childrenTold'; upTo: string }
  /** A step met an error that neither the model nor a retry can repair. */
  | { type: 'stepFailed'; step: FailedStep; code: ErrorCode; message: string }
  | { type: 'pauseRequested'; message?: string }
  | { type: 'resumeRequested' }
  /** The time has come at which the pause said that the session would try again. */
  | { type: 'tryDue'; at: string }
  /** `early`: the run was not opened yet. */
  | { type: 'cancelRequested'; early?: true }
  /** A person has pressed "Request Cancellation" in the Temporal UI. */
  | { type: 'stopRequested'; early?: true }
  | { type: 'closeRequested'; cascade: boolean }

/** Tells `announced` what its announcement was for. `none`: nothing in the session waits for it. */
export type AnnounceTag = 'turnEnd' | 'pause' | 'resume' | 'close' | 'message' | 'refused' | 'none'

export type FailedStep =
  | { of: 'model'; turn: number; round: number }
  | { of: 'tool'; turn: number; round: number; index: number }
  | { of: 'compaction'; key: string }
