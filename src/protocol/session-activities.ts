/** The activities of a session: what a worker can do for the workflow. */
import type { AnnounceInput, AnnounceOutcome, ReleaseInput } from './announcements.ts'
import type { NotifyInput } from './notices.ts'
import type {
  CallModelInput,
  CallToolInput,
  CompactInput,
  CompactOutcome,
  DescribeChildrenInput,
  Elsewhere,
  EndedChild,
  ModelOutcome,
  OpenSessionInput,
  OpenSessionOutcome,
  SettleModelInput,
  SettleToolInput,
  ToolOutcome,
} from './steps.ts'

export interface SessionActivities {
  openSession(input: OpenSessionInput): Promise<OpenSessionOutcome>
  callModel(input: CallModelInput): Promise<ModelOutcome>
  compact(input: CompactInput): Promise<CompactOutcome>
  /** Its activity ended without an outcome. */
  settleCompaction(input: CompactInput): Promise<CompactOutcome>
  callTool(input: CallToolInput): Promise<ToolOutcome | Elsewhere>
  openChild(input: CallToolInput): Promise<ToolOutcome>
  settleModel(input: SettleModelInput): Promise<ModelOutcome>
  settleTool(input: SettleToolInput): Promise<ToolOutcome>
  announce(input: AnnounceInput): Promise<AnnounceOutcome>
  /** Tells people outside that something waits for them. */
  notifyPeople(input: NotifyInput): Promise<void>
  /** Tells packs that the session was closed, so that they end what it has left running. */
  releaseSession(input: ReleaseInput): Promise<void>
  describeChildren(input: DescribeChildrenInput): Promise<EndedChild[]>
}
