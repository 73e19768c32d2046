/**
 * Finds the steps that dead workers left, and makes Temporal schedule them at once instead of after a heartbeat
 * time-out (docs/durability.md, 4).
 */
import { ActivityNotFoundError, isGrpcServiceError, type Client } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { messageOf } from '../core/errors.ts'
import type { Database } from '../store/database/database.ts'
import { stealDeadSteps } from '../store/ledger/liveness.ts'
import {
  claimDeadWorkers,
  findPerhapsBusySessions,
  giveUpDeadWorkers,
  leaveWorker,
  withoutSteps,
  type KnownWorker,
} from '../store/ledger/workers.ts'
import { describeWorkflow } from '../temporal/describe-workflow.ts'
import { keepDoing } from './keep-doing.ts'

export const TAKE_OVER_EVERY_MS = 2000
/** gRPC code: the workflow is over. */
const NOT_FOUND = 5
/**
 * How many sessions Temporal is asked about, one by one. Attempts in further sessions wait for Temporal's own
 * time-outs.
 */
const SESSIONS_LOOKED_AT = 1000
const AT_ONCE = 20
/** `PENDING_ACTIVITY_STATE_STARTED` of Temporal's API. */
const STARTED = 2

interface Servers {
  db: Database
  client: Client
}

/** The identity of a worker in Temporal: for people, and to tell its attempts from those of others. */
export function workerIdentity(host: string, pid: number, bootId: string): string {
  return `${pid}@${host}#${bootId}`
}

/**
 * @param self the boot id of the worker that takes over, in the namespace of `client`
 * @returns how many attempts of dead workers were ended
 */
export async function takeOver({ db, client }: Servers, self: string, graceMs?: number): Promise<number> {
  const taker = { bootId: self, namespace: client.options.namespace }
  try {
    // This comes before their steps are taken: a worker that dies meanwhile is not forgotten until these are, so its
    // death counts.
    const dead = await claimDeadWorkers(db, taker, graceMs)
    // First the leases are raised, which stops the dead workers from writing. The rest only saves time.
    const stolen = await stealDeadSteps(db, taker, { graceMs })
    await inBatches([...new Set(stolen.map(({ sessionId }) => sessionId))], (id) => unstick(client, id))
    const byToken = await inBatches(stolen, ({ token }) => endAttempt(client, new Uint8Array(token)))
    let ended = byToken.filter(Boolean).length
    // Steps of a session that was locked meanwhile are taken at a later look. Their worker stays in the list until then.
    for (const one of await withoutSteps(db, dead, taker)) ended += await search({ db, client }, one)
    return ended
  } catch (error) {
    // Other workers may reach sessions that this one cannot.
    await giveUpDeadWorkers(db, self).catch(() => undefined)
    throw error
  }
}

async function search({ db, client }: Servers, dead: KnownWorker): Promise<number> {
  const { bootId } = dead
  const sessions = await findPerhapsBusySessions(db, dead, SESSIONS_LOOKED_AT)
  const counts = await inBatches(sessions, (sessionId) => endLeft(client, sessionId, bootId))
  // This comes last: if this worker dies before, another one goes on.
  await leaveWorker(db, bootId)
  return counts.reduce((sum, count) => sum + count, 0)
}

/** How many requests go to Temporal at the same time, however much a dead worker had in hand. */
async function inBatches<T, R>(all: readonly T[], ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let from = 0; from < all.length; from += AT_ONCE)
    answers.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map(ask))))
  return answers
}

/**
 * Ends attempts that Temporal had given to the dead worker, and that died before they reached the ledger or after they
 * had settled there.
 */
async function endLeft(client: Client, sessionId: string, bootId: string): Promise<number> {
  const description = await describeWorkflow(client, sessionId)
  const left = (description?.raw.pendingActivities ?? []).filter(
    (activity) => activity.state === STARTED && activity.lastWorkerIdentity?.endsWith(`#${bootId}`),
  )
  if (left.length > 0) await unstick(client, sessionId)
  const ended = await Promise.all(
    left.map(({ activityId }) => endAttempt(client, { workflowId: sessionId, activityId: activityId ?? '' })),
  )
  return ended.filter(Boolean).length
}

/**
 * Temporal keeps the workflow's next task for some seconds for the worker that had the workflow in its cache, even when
 * that is dead.
 */
async function unstick(client: Client, sessionId: string): Promise<void> {
  const { namespace } = client.options
  await client.workflowService
    .resetStickyTaskQueue({ namespace, execution: { workflowId: sessionId } })
    .catch((error: unknown) => {
      if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) throw error
    })
}

/** Temporal refuses an attempt that is over already: nothing is left to do. */
async function endAttempt(
  client: Client,
  which: Uint8Array | { workflowId: string; activityId: string },
): Promise<boolean> {
  const failure = ApplicationFailure.create({ message: 'its worker has died', type: 'WORKER_LOST', nextRetryDelay: 1 })
  try {
    if (which instanceof Uint8Array) await client.activity.fail(which, failure)
    else await client.activity.fail(which, failure)
    return true
  } catch (error) {
    if (error instanceof ActivityNotFoundError) return false
    throw error
  }
}

export interface TakingOver extends Servers {
  self: KnownWorker
  log: { info(message: string): void; warn(message: string): void }
  /** Puts this worker into the list of workers. */
  enter(): Promise<void>
  tookOver(steps: number): void
}

/** Looks at once and then every few seconds. @returns stops it */
export function keepTakingOver({ db, client, self, log, enter, tookOver }: TakingOver): () => Promise<void> {
  const look = async (): Promise<void> => {
    try {
      // Another worker may have taken this one for dead, for example while its connection was down.
      await enter()
      const ended = await takeOver({ db, client }, self.bootId)
      if (ended > 0) {
        tookOver(ended)
        log.info(`took over ${ended} steps of dead workers`)
      }
    } catch (error) {
      log.warn(`looking for steps of dead workers failed: ${messageOf(error)}`)
    }
  }
  return keepDoing(look, TAKE_OVER_EVERY_MS)
}
