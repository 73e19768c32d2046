/** The configurations of the sessions this worker serves. An opened session's configuration never changes, so it may be kept. */
import { StelloError } from '../../core/errors.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import type { Database } from '../../store/database/database.ts'
import { readSession } from '../../store/sessions/session-row.ts'

/** How many sessions one worker remembers. */
const LIMIT = 2000

export interface StoredSession {
  config: SessionConfig
  rootId: string
  parentId?: string
  depth: number
}

export class SessionConfigs {
  readonly #known = new Map<string, StoredSession>()

  async read(db: Database, sessionId: string): Promise<StoredSession> {
    const known = this.#known.get(sessionId)
    if (known) return known
    const row = await readSession(db, sessionId)
    if (!row)
      throw new StelloError('STORE_CORRUPT', `session ${sessionId} has no row in the store`, {
        hint: 'restore the database, or close the session in Temporal',
      })
    const { config, rootId, parentId, depth } = row
    const stored = { config, rootId, depth, ...(parentId !== undefined && { parentId }) }
    if (config.limits) this.#keep(sessionId, stored)
    return stored
  }

  /** Forgets all: the store may have been put back to an earlier state. */
  clear(): void {
    this.#known.clear()
  }

  #keep(sessionId: string, stored: StoredSession): void {
    this.#known.set(sessionId, stored)
    const oldest = this.#known.size > LIMIT ? this.#known.keys().next() : undefined
    if (oldest?.value !== undefined) this.#known.delete(oldest.value)
  }
}
