/**
 * Sessions carry the identity of the store that holds them. A step of another store's session is given back, untouched,
 * to the workers of that store. A worker that finds no session of its own store here is connected to the wrong one
 * (docs/durability.md, 12).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { StelloError, messageOf } from '../../core/errors.ts'
import { shownUrl, type Database } from '../../store/database/database.ts'
import { newestSessions, readIdentity } from '../../store/database/identity.ts'
import { backoffOf } from '../step/temporal-failures.ts'
import { describeWorkflow } from '../../temporal/describe-workflow.ts'

/** How many of its store's sessions a worker asks Temporal about. */
const SESSIONS_LOOKED_AT = 20

const LOOK_EVERY_MS = 250

/** The facts about its session that an activity gets. `store` is absent when the session is older than identities. */
export interface Belonging {
  sessionId: string
  store?: string
}

export interface RightStoreOptions {
  db: Database
  client: Client
  agent: string
  /** The identity of the worker's store. Unset: nothing is checked. */
  identity: string | undefined
  /** Called once, when it is certain, with what people should do. */
  wrong(error: StelloError): void
  /** A step was given back. */
  foreign(): void
  log: { warn(message: string): void }
}

export interface RightStore {
  /**
   * Runs before everything else in an activity.
   *
   * @param attempt Temporal's count, from 1
   * @throws StelloError WRONG_STORE: another worker is to take the step; STORE_UNAVAILABLE while it is not certain
   *   which store answers
   */
  admit(session: Belonging, attempt: number): void
  /** Whether the store that answers is known to be the one the worker was started on. */
  certain(): boolean
  /** Called when no connection of the lock is left: another store may answer under the same URL from now on. */
  doubt(): void
  /** Called when a connection is back: asks the store for its identity until it answers. */
  lookAgain(): Promise<void>
}

export function createRightStore(options: RightStoreOptions): RightStore {
  const { db, identity, wrong, foreign, log } = options
  const own = `store ${identity} (${shownUrl(db.url)})`
  /**
   * True once the worker has met a session of its own store: steps of other stores are remains, or belong to others.
   */
  let proven = false
  let judging = false
  let warnedOf: string | undefined
  /** How often the store was doubted, and how many of these doubts are settled. */
  let doubts = 0
  let settled = 0

  const judge = async (session: Belonging): Promise<void> => {
    if (proven || judging) return
    judging = true
    try {
      proven = await hasSessionsHere(options)
      if (!proven) wrong(wrongStore(session, own, options.client))
    } catch (error) {
      log.warn(`whether this worker is on the right store is not known yet: ${messageOf(error)}`)
    } finally {
      judging = false
    }
  }
  const admit: RightStore['admit'] = (session, attempt) => {
    const { sessionId, store } = session
    if (settled !== doubts)
      throw new StelloError('STORE_UNAVAILABLE', 'the store was away, and has not said yet which it is')
    if (store === undefined || identity === undefined) return
    if (store === identity) {
      proven = true
      return
    }
    foreign()
    const belongs = `session ${sessionId} belongs to store ${store}, and this worker serves ${own}`
    if (warnedOf !== store) log.warn(`${belongs}: its steps are left to a worker of that store`)
    warnedOf = store
    void judge(session)
    throw new StelloError('WRONG_STORE', belongs, {
      hint: 'a worker of that store takes it; where that store is gone for good, terminate the workflow',
      retryAfterMs: backoffOf(attempt),
    })
  }
  return {
    admit,
    certain: () => settled === doubts,
    doubt: () => void doubts++,
    async lookAgain() {
      const doubt = doubts
      while (doubt === doubts && !db.pool.ended) {
        try {
          const now = await readIdentity(db)
          if (identity !== undefined && now !== identity) return wrong(movedStore(own, now))
          settled = doubt
          return
        } catch {
          await delay(LOOK_EVERY_MS, undefined, { ref: false })
        }
      }
    },
  }
}

function movedStore(own: string, now: string | undefined): StelloError {
  return new StelloError(
    'WRONG_STORE',
    `the database URL leads to another store now, to ${now ?? 'one without an identity'}: this worker was started on ${own}`,
    { hint: 'put the store back that was there, or start the workers anew where the other one is meant' },
  )
}

/** Whether Temporal knows a workflow, open or closed, of one of this store's newest sessions. */
async function hasSessionsHere({ db, client, agent, identity }: RightStoreOptions): Promise<boolean> {
  const { namespace } = client.options
  for (const sessionId of await newestSessions(db, { agent, namespace }, SESSIONS_LOOKED_AT)) {
    const known = await describeWorkflow(client, sessionId)
    // A workflow of the same id may belong to another store: users can choose ids.
    if (known && (known.memo?.['store'] ?? identity) === identity) return true
  }
  return false
}

function wrongStore({ sessionId, store }: Belonging, own: string, client: Client): StelloError {
  const { namespace } = client.options
  return new StelloError(
    'WRONG_STORE',
    `this worker is on the wrong store: it was handed session ${sessionId} of store ${store}, and of its own, ${own}, namespace ${namespace} of Temporal knows no session`,
    {
      hint: `correct STELLO_DATABASE_URL (or TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE); if store ${store} is gone for good, end what it left: temporal workflow terminate --workflow-id ${sessionId}`,
    },
  )
}
