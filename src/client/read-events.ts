/** Reading the log of a session or a tree page by page, without waiting for what is still to come. */
import type { StelloEvent } from '../protocol/events.ts'
import { startOffsets, toCursor } from './cursor.ts'
import type { ClientDeps } from './client-deps.ts'
import { mustExist } from './start-session.ts'
import { watchSession, type WatchOptions } from './watch.ts'

/** What of the past to read. */
export interface EventsOptions extends Pick<WatchOptions, 'from' | 'tree'> {
  /** The most events to read. Default 500; 0 reads none, which gives the cursor of `from`. */
  limit?: number
}

/** A part of the log. */
export interface EventPage {
  /** The durable events, in the order in which a watch gives them. */
  events: StelloEvent[]
  /** The next page, or a watch, begins here. */
  cursor: string
}

/** Reads the durable events that are there now. A page that is not full has reached the end of the log. */
export async function readEvents(
  deps: ClientDeps,
  sessionId: string,
  { from = 0, tree = false, limit = 500 }: EventsOptions = {},
): Promise<EventPage> {
  await mustExist(deps.db, sessionId)
  const page: EventPage = { events: [], cursor: toCursor(await startOffsets(deps, sessionId, { from, tree })) }
  if (limit === 0) return page
  for await (const event of watchSession(deps, sessionId, { from: page.cursor, tree, live: false, follow: false })) {
    page.events.push(event)
    page.cursor = event.cursor
    if (page.events.length >= limit) break
  }
  return page
}
