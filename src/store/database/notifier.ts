/**
 * Tells other processes that a session has news. The news is gathered and sent after the commit, because NOTIFY inside
 * the transaction would halve the number of commits per second.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { run, type Database } from './database.ts'
import { statement, type Statement } from './statement.ts'

/** The gap before a decision, if progress went out last. Changes in between go out with it. */
const GAP_MS = 5
/** The gap before the next decision, if one went out last: many sessions at once then share their notifications. */
const DECISION_GAP_MS = 25
/** The gap if nobody waits for the change. Texts that are being produced are written as often (`live-writer.ts`). */
const PROGRESS_GAP_MS = 50
export const CHANNEL = 'stello'

/**
 * `decision`: somebody may wait for the news: a turn has ended, a message was refused, the session paused or closed.
 */
export type News = 'progress' | 'decision'

export interface Notifier {
  notify(sessionId: string, news?: News): void
  close(): Promise<void>
}

const NOTIFY: Statement = statement(
  'notify',
  `select pg_notify('${CHANNEL}', payload) from unnest($1::text[]) as payload`,
)
/** The mark of a session id, on the channel, that has only progress. */
const PROGRESS = '~'

export function readNews(payload: string): { sessionId: string; news: News } {
  return payload.startsWith(PROGRESS)
    ? { sessionId: payload.slice(PROGRESS.length), news: 'progress' }
    : { sessionId: payload, news: 'decision' }
}

/**
 * The first change goes out at once, because somebody may wait for it. Changes that come while it is on its way follow
 * together. Watchers also poll, so a lost notification costs them a second, but never an event.
 */
export function createNotifier(db: Database): Notifier {
  const changed = new Map<string, News>()
  let sending: Promise<void> | undefined
  let decided: (() => void) | undefined

  const send = async (): Promise<void> => {
    while (changed.size > 0) {
      const payloads = [...changed].map(([id, news]) => (news === 'progress' ? PROGRESS + id : id))
      const gap = decides() ? DECISION_GAP_MS : GAP_MS
      changed.clear()
      await run(db.lazyPool, NOTIFY, [payloads]).catch(() => undefined)
      await delay(gap)
      if (!decides()) await untilDecided(PROGRESS_GAP_MS - gap)
    }
    sending = undefined
  }
  const decides = (): boolean => [...changed.values()].includes('decision')
  const untilDecided = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      decided = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return {
    notify(sessionId, news = 'decision') {
      if (news === 'decision' || !changed.has(sessionId)) changed.set(sessionId, news)
      if (news === 'decision') decided?.()
      sending ??= send()
    },
    async close() {
      decided?.()
      await sending
    },
  }
}
