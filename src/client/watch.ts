/**
 * Watching a session or a whole tree. Durable events come from the log, each once and in order of their offsets; what
 * streams (text, tool cards) comes beside them and has no offset. A watcher that comes back goes on without a gap.
 */
import { StelloError } from '../agent/errors.ts'
import { nextOffsets, readEvents, readLive, type LivePiece } from '../store/events.ts'
import { readSubtree } from '../store/topology.ts'
import { mustExist, type ClientDeps } from './start-session.ts'
import { waitForNews } from './wait-for-news.ts'

export interface WatchOptions {
  /** First offset (one session), or the `cursor` of the last event seen. Default 0; `'now'` leaves out the past. */
  from?: number | string
  /** Children too, also those that are forked while watching. */
  tree?: boolean
  /** Text and tool cards while they stream. Default true. */
  live?: boolean
  signal?: AbortSignal
}

export interface StelloEvent {
  sessionId: string
  /** Unset for what streams. */
  offset?: number
  at: Date
  type: string
  data: Record<string, unknown>
  /** Where a later watch goes on behind this event. */
  cursor: string
}

/** A slow consumer is not waited for: pages are read when it asks for more. */
export async function* watchSession(
  deps: ClientDeps,
  sessionId: string,
  { from = 0, tree = false, live = true, signal }: WatchOptions = {},
): AsyncGenerator<StelloEvent> {
  await mustExist(deps.db, sessionId)
  const below = (): Promise<string[]> => readSubtree(deps.db, sessionId)
  const offsets =
    from === 'now'
      ? await nextOffsets(deps.db, tree ? await below() : [sessionId])
      : new Map(typeof from === 'number' ? [[sessionId, from]] : readCursor(sessionId, from))
  const seen = new Map<string, Seen>()
  let ids = [sessionId]
  const news = waitForNews(deps.listener, (id) => ids.includes(id))
  const cursor = (): string => JSON.stringify(Object.fromEntries(offsets))
  try {
    while (!signal?.aborted) {
      let moved = false
      // Read before its events: of a session that is closed there are no others.
      const closed = !tree && (await mustExist(deps.db, sessionId)).closedAt !== undefined
      if (tree) ids = await below()
      for (const id of ids) {
        for (const event of await readEvents(deps.db, id, offsets.get(id) ?? 0)) {
          offsets.set(id, event.offset + 1)
          moved = true
          yield { ...event, cursor: cursor() }
          if (event.type === 'session.closed' && id === sessionId && !tree) return
        }
        if (!live) continue
        const pieces = await readLive(deps.db, id)
        const before = seen.get(id)
        seen.set(id, lastOf(pieces))
        for (const piece of pieces.filter((one) => isFresh(one, before))) {
          yield {
            sessionId: id,
            at: new Date(),
            type: piece.type,
            data: { ...piece.data, step: piece.stepKey, attempt: piece.lease },
            cursor: cursor(),
          }
        }
      }
      if (moved) continue
      if (closed) return
      await news.next(signal)
    }
  } finally {
    news.stop()
  }
}

/** The cursor of an event, or an offset that came as text. */
function readCursor(sessionId: string, from: string): [string, number][] {
  const parsed: unknown = parse(from)
  const offsets = typeof parsed === 'number' ? { [sessionId]: parsed } : parsed
  if (typeof offsets === 'object' && offsets !== null && !Array.isArray(offsets)) {
    const entries = Object.entries(offsets)
    if (entries.every((entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && entry[1] >= 0))
      return entries
  }
  throw new StelloError('INVALID_ARGUMENT', `watch: "${from}" is no cursor`, {
    hint: 'use an offset, or the cursor of an event',
  })
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Of each step that streams: the last piece there was. Steps that are settled are forgotten. */
type Seen = Map<string, { lease: number; n: number }>

function lastOf(pieces: LivePiece[]): Seen {
  return new Map(pieces.map(({ stepKey, lease, n }) => [stepKey, { lease, n }]))
}

/** Not yielded yet; a higher lease starts the step anew. */
function isFresh({ stepKey, lease, n }: LivePiece, seen: Seen | undefined): boolean {
  const last = seen?.get(stepKey)
  return !last || lease > last.lease || (lease === last.lease && n > last.n)
}
