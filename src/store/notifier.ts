/** Tells other processes that a session has news. Coalesced and sent after the commit: NOTIFY inside it would halve the commits. */
import { setTimeout as delay } from 'node:timers/promises'
import { run, type Database } from './database.ts'

/** Between two notifications; what changes meanwhile goes out with the second. */
const GAP_MS = 5
export const CHANNEL = 'stello'

export interface Notifier {
  notify(sessionId: string): void
  close(): Promise<void>
}

/**
 * The first change goes out at once, since somebody may wait for it; those that come while it is on its way follow
 * together. Watchers also poll, so a notification that is lost costs them a second, never an event.
 */
export function createNotifier(db: Database): Notifier {
  const changed = new Set<string>()
  let sending: Promise<void> | undefined

  const send = async (): Promise<void> => {
    while (changed.size > 0) {
      const ids = [...changed]
      changed.clear()
      const statement = { name: 'notify', text: `select pg_notify('${CHANNEL}', id) from unnest($1::text[]) as id` }
      await run(db.lazyPool, statement, [ids]).catch(() => undefined)
      await delay(GAP_MS)
    }
    sending = undefined
  }
  return {
    notify(sessionId) {
      changed.add(sessionId)
      sending ??= send()
    },
    async close() {
      await sending
    },
  }
}
