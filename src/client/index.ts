/** Entry `stello-temporal/client`. */
export { connectStello, findServers, type ConnectOptions, type Servers } from './connect.ts'
export type { StelloClient } from './stello-client.ts'
export type { CreateSessionOptions, ForkOptions } from './options.ts'
export type { RecoverOptions, Recovered } from './recover-session.ts'
export type { AnswerOptions, ApproveOptions } from './send-answer.ts'
export type { Remember } from '../protocol/read-answer.ts'
export type { SessionHandle, SessionStats, TranscriptSummary } from './session-handle.ts'
export type { PauseOptions, Reached, TreeOptions } from './reach-tree.ts'
export type { ResultOptions, TurnHandle, TurnResult } from './turn-handle.ts'
export type { EventPage, EventsOptions } from './read-events.ts'
export type { WatchOptions } from './watch.ts'
export type {
  AskedCall,
  DurableEvent,
  DurableEvents,
  EventType,
  GoneBack,
  LiveEvent,
  LiveEvents,
  NamedCall,
  ShownCall,
  StelloEvent,
  Streamed,
  StreamedEvent,
  Watched,
} from '../protocol/events.ts'
export type { SessionTree } from './build-tree.ts'
export type { KeptRule, RuleScope } from '../store/sessions/kept-rules.ts'
export type { InboxItem, InboxPause, InboxPlace, InboxQuestion } from '../store/watching/inbox.ts'
export type { BoundedTree } from '../store/sessions/bounds.ts'
export type { ForkRequest } from '../protocol/config.ts'
export type { TreeBounds } from '../protocol/limits.ts'
export type { StopReason } from '../protocol/steps.ts'
export type { Pause } from '../core/pause.ts'
export { PAUSE_REASONS, type PauseReason } from '../core/errors.ts'
export type {
  Decision,
  DecisionsByKind,
  Otherwise,
  PendingItem,
  PendingKind,
  PendingRef,
  Question,
  QuestionForm,
  ShownToPermit,
} from '../protocol/pending.ts'
export { SESSION_STATUSES, type SessionStatus, type ToolStats, type ToolStatsView } from '../protocol/views.ts'
export type { Message, ProviderData, Role, Usage } from '../core/message.ts'
export type { RootFilter, RootSummary, TreeTotals } from '../store/sessions/roots.ts'
export type { RecordPage, RecordRange, SessionRecord } from '../store/transcript/record-pages.ts'
export type { TimelineSpan } from '../store/watching/timeline-span.ts'
export type { SearchHit, SearchOptions, SnippetPart } from '../store/transcript/search.ts'
export type { SessionFilter, SessionSummary } from '../store/sessions/sessions.ts'
export { StelloError, isStelloError } from '../core/errors.ts'
export type { ErrorCode, Fate, StelloErrorOptions } from '../core/errors.ts'
