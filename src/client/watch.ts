/**
 * Watching a session or a whole tree. Durable events come from the log, each once and in order of their offsets;
 * streamed output (text, tool cards) comes beside them and has no offset. A watcher that comes back goes on without a
 * gap.
 *
 * Each read is one statement: it reads the sessions that had news, and once a second all that are not closed. The
 * events tell which sessions a tree has: forks add some, rewinds may take some away.
 */
import { isUnavailable, type StelloError } from '../core/errors.ts'
import type { StelloEvent, StreamedEvent } from '../protocol/events.ts'
import { lookAt, type LivePiece } from '../store/watching/event-log.ts'
import { readSubtree } from '../store/sessions/tree.ts'
import { startOffsets, toCursor } from './cursor.ts'
import type { ClientDeps } from './client-deps.ts'
import { mustExist, throwUnknown } from './start-session.ts'
import { waitForNews } from './wait-for-news.ts'

/** What to watch. */
export interface WatchOptions {
  /** First offset (one session), or the `cursor` of the last event seen. Default 0; `'now'` leaves out the past. */
  from?: number | string
  /** Includes the sessions below, also those that are forked while watching. */
  tree?: boolean
  /** Includes text and tool cards while they stream. Default true. */
  live?: boolean
  /** Ends the watch. */
  signal?: AbortSignal
  /**
   * Called once when the store goes away while watching. The watch goes on where it was as soon as the store is back.
   */
  onAway?: (error: StelloError) => void
  /** Called once when the store has come back after `onAway`. */
  onBack?: () => void
}

/**
 * A slow consumer is not waited for: pages are read when it asks for more.
 *
 * @param options without `follow` it ends when everything that is there now was read
 */
export async function* watchSession(
  deps: ClientDeps,
  sessionId: string,
  {
    from = 0,
    tree = false,
    live = true,
    follow = true,
    signal,
    onAway,
    onBack,
  }: WatchOptions & { follow?: boolean } = {},
): AsyncGenerator<StelloEvent> {
  await mustExist(deps.db, sessionId)
  const below = async (): Promise<Set<string>> => new Set(tree ? await readSubtree(deps.db, sessionId) : [sessionId])
  const offsets = await startOffsets(deps, sessionId, { from, tree })
  let ids = await below()
  let open = new Set(ids)
  let due = open
  const seen = new Map<string, Seen>()
  const news = waitForNews(deps.listener, (id) => ids.has(id))
  const cursor = (): string => toCursor(offsets)
  let rewound = false
  let away = false
  try {
    while (!signal?.aborted) {
      let looked: Awaited<ReturnType<typeof lookAt>>
      try {
        if (rewound) {
          ids = await below()
          due = open = new Set(ids)
          rewound = false
        }
        looked = await lookAt(deps.db, new Map(Array.from(due, (id) => [id, offsets.get(id) ?? 0])), { live })
        if (away) onBack?.()
        away = false
      } catch (error) {
        if (!isUnavailable(error) || !follow) throw error
        if (!away) onAway?.(error)
        away = true
        due = open = new Set(ids)
        await news.next(signal)
        continue
      }
      const { sessions, more } = looked
      const [first] = due
      if (first === sessionId && sessions[0]?.sessionId !== first) throwUnknown(sessionId)
      const again = new Set(more ? due : [])
      for (const { sessionId: id, events, pieces, next, ended } of sessions) {
        for (const event of events) {
          offsets.set(id, event.offset + 1)
          yield { ...event, cursor: cursor() }
          if (event.type === 'session.forked' && tree) again.add(event.data.child)
          rewound ||= event.type === 'session.rewound' || event.type === 'session.restarted'
        }
        offsets.set(id, next)
        for (const piece of pieces.filter((one) => isFresh(one, seen.get(id)))) {
          yield { sessionId: id, at: piece.at, ...streamed(piece), cursor: cursor() }
        }
        seen.set(id, lastOf(pieces))
        if (ended && !tree) return
        if (ended) open.delete(id)
      }
      if (rewound) continue
      if (again.size > 0) {
        for (const id of again) open.add(id)
        for (const id of again) ids.add(id)
        due = again
      } else if (!follow) {
        return
      } else {
        const { sessions: heard, unheard } = await news.next(signal)
        // One that was closed may have been rewound, if it is heard of or nobody listened.
        if (unheard === 'all') open = new Set(ids)
        const those = [...heard].filter((id) => ids.has(id))
        for (const id of those) open.add(id)
        due = unheard === 'none' ? new Set(those) : open
      }
    }
  } finally {
    news.stop()
  }
}

/** The last piece of each step that streams. Settled steps are forgotten. */
type Seen = Map<string, { lease: number; n: number }>

function lastOf(pieces: LivePiece[]): Seen {
  return new Map(pieces.map(({ stepKey, lease, n }) => [stepKey, { lease, n }]))
}

/** What streams, with what tells which attempt streams it. */
function streamed({ event, stepKey, lease }: LivePiece): StreamedEvent {
  return { ...event, data: { ...event.data, step: stepKey, attempt: lease } } as StreamedEvent
}

/** The pieces that were not yielded yet. A higher lease starts the step again. */
function isFresh({ stepKey, lease, n }: LivePiece, seen: Seen | undefined): boolean {
  const last = seen?.get(stepKey)
  return !last || lease > last.lease || (lease === last.lease && n > last.n)
}
