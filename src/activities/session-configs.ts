/** The configurations of the sessions this worker serves. An opened session's configuration never changes, so it may be kept. */
import { StelloError } from '../agent/errors.ts'
import type { SessionConfig } from '../session/config.ts'
import type { Database } from '../store/database.ts'
import { readSession } from '../store/session-row.ts'

/** Sessions remembered by one worker. */
const LIMIT = 2000

export interface SessionFacts {
  config: SessionConfig
  rootId: string
}

export class SessionConfigs {
  readonly #known = new Map<string, SessionFacts>()

  async read(db: Database, sessionId: string): Promise<SessionFacts> {
    const known = this.#known.get(sessionId)
    if (known) return known
    const row = await readSession(db, sessionId)
    if (!row)
      throw new StelloError('STORE_CORRUPT', `session ${sessionId} has no row in the store`, {
        hint: 'restore the database, or close the session in Temporal',
      })
    const facts = { config: row.config, rootId: row.rootId }
    if (row.config.limits) this.#keep(sessionId, facts)
    return facts
  }

  /** The store may have been put back to an earlier state. */
  clear(): void {
    this.#known.clear()
  }

  #keep(sessionId: string, facts: SessionFacts): void {
    this.#known.set(sessionId, facts)
    const oldest = this.#known.size > LIMIT ? this.#known.keys().next() : undefined
    if (oldest?.value !== undefined) this.#known.delete(oldest.value)
  }
}
