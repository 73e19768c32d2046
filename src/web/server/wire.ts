/** What crosses HTTP, as the page reads it: the client's types with dates as text, and the shapes that only routes have. */
import type {
  InboxItem,
  KeptRule,
  RecordPage,
  RootSummary,
  SearchHit as ClientHit,
  SessionRecord as ClientRecord,
  SessionSummary,
  SessionTree,
  StelloEvent,
  TimelineSpan as ClientSpan,
} from '../../client/index.ts'
import type { Json } from '../../http/json.ts'

export type { Json }
/** A session, as its page shows it. */
export type Session = Json<SessionSummary> & { temporalLink?: string }
/** A session and its forks, oldest first. */
export type Tree = Json<SessionTree>
/** One event of a session or of its tree. */
export type PageEvent = Json<StelloEvent>
/** What waits for a person. */
export type Waiting = Json<InboxItem>
/** A rule that a person has added with an answer. */
export type Rule = Json<KeptRule>

/** The server, and where Temporal's UI is. */
export interface About {
  version: string
  namespace: string
  uiUrl?: string
}

/** `served`: a living worker serves it now. `profiles`: the names of those it has. */
export interface Agent {
  name: string
  served: boolean
  profiles: readonly string[]
}

/** A root, and what its whole tree has used and waits for. */
export type Root = Json<RootSummary>
/** A record of a transcript. */
export type SessionRecord = Json<ClientRecord>
/** Records that follow each other. `next`: where the following page begins. */
export type RecordsPage = Json<RecordPage>

/** One span of the time line of a tree. An attempt that was taken over is a span of its own. */
export type TimelineSpan = Json<ClientSpan>
/** A record in which the searched words occur. */
export type SearchHit = Json<ClientHit>
