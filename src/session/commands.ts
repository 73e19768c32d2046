/**
 * What a session wants done, in the imperative. `workflows/perform` carries out each command and answers with inputs.
 */
import type { AnnounceInput } from '../protocol/announcements.ts'
import type { NotifyInput } from '../protocol/notices.ts'
import type { AnnounceTag } from './inputs.ts'
import type { SessionState } from './state.ts'
import type {
  AgentReport,
  CallModelInput,
  CallRoute,
  CallToolInput,
  ChildReport,
  ChildStart,
  CompactInput,
  OpenSessionInput,
  SettleModelInput,
  SettleToolInput,
} from '../protocol/steps.ts'

export type Command =
  | { type: 'openSession'; input: OpenSessionInput }
  | { type: 'callModel'; input: CallModelInput }
  | { type: 'compact'; input: CompactInput }
  | { type: 'settleCompaction'; input: CompactInput }
  | { type: 'callTool'; input: CallToolInput; route: CallRoute; preview: string; timeoutMs: number }
  | { type: 'settleModel'; input: SettleModelInput }
  /** `timeoutMs`: how long a tool may take to find out how its call ended. */
  | { type: 'settleTool'; input: SettleToolInput; timeoutMs: number }
  | { type: 'startChild'; callKey: string; child: ChildStart; awaited: boolean }
  | { type: 'announce'; input: AnnounceInput; tag: AnnounceTag }
  /** Answered by `tryDue` at that time, ISO 8601. */
  | { type: 'tryAgain'; at: string }
  /** Cancels the running activities of models and tools. */
  | { type: 'cancelSteps' }
  | { type: 'cancelChild'; childId: string }
  /** Answered by `childrenTold`. */
  | { type: 'closeChildren'; children: string[] }
  | { type: 'reportToParent'; parentId: string; report: ChildReport }
  | { type: 'tellParent'; parentId: string; report: AgentReport }
  /** Answered by `waitOver` at that time, ISO 8601. */
  | { type: 'endWait'; callKey: string; until: string }
  /** Answered by `peopleNotified`. Nothing waits for it. */
  | { type: 'notifyPeople'; input: NotifyInput }
  /** Answered by `askingOver` at that time, ISO 8601. */
  | { type: 'endAsking'; callKey: string; id: string; at: string }

/** The result of every rule: the new state, and what is to be done. */
export type Step = [state: SessionState, commands: Command[]]
