/** Tells other processes that a session has news. Coalesced and sent after the commit: NOTIFY inside it would halve the commits. */
import { run, type Database } from './database.ts'

const EVERY_MS = 20
export const CHANNEL = 'stello'

export interface Notifier {
  notify(sessionId: string): void
  close(): Promise<void>
}

/** Watchers also poll, so a notification that is lost costs them a second, never an event. */
export function createNotifier(db: Database): Notifier {
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()

  const flush = (): void => {
    timer = undefined
    const ids = [...changed]
    changed.clear()
    const statement = { name: 'notify', text: `select pg_notify('${CHANNEL}', id) from unnest($1::text[]) as id` }
    sending = run(db.lazyPool, statement, [ids]).then(
      () => undefined,
      () => undefined,
    )
  }
  return {
    notify(sessionId) {
      changed.add(sessionId)
      timer ??= setTimeout(flush, EVERY_MS)
    },
    async close() {
      if (timer) {
        clearTimeout(timer)
        flush()
      }
      await sending
    },
  }
}
