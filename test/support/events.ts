/** The log of a session, and what streams in it, as a watcher reads them. */
import type { Database } from '../../src/store/database/database.ts'
import { lookAt, type LivePiece, type StoredEvent } from '../../src/store/watching/event-log.ts'

/** The largest `integer` of PostgreSQL: an offset after all events. */
const LAST_OFFSET = 2 ** 31 - 1

/** A page of events, from an offset on. */
export async function readEvents(db: Database, sessionId: string, from: number): Promise<StoredEvent[]> {
  const { sessions } = await lookAt(db, new Map([[sessionId, from]]), { live: false })
  return sessions.flatMap(({ events }) => events)
}

export async function readLive(db: Database, sessionId: string): Promise<LivePiece[]> {
  const { sessions } = await lookAt(db, new Map([[sessionId, LAST_OFFSET]]))
  return sessions.flatMap(({ pieces }) => pieces)
}

/** A field of an event's data, of any type of event, so that a test that waits for a field need not name the type. */
export function fieldOf(data: object | undefined, name: string): unknown {
  return data && Object.entries(data).find(([key]) => key === name)?.[1]
}
