/** Finds what dead workers left and has Temporal schedule it at once, instead of after a heartbeat time-out (durability 4). */
import { ActivityNotFoundError, WorkflowNotFoundError, isGrpcServiceError, type Client } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { messageOf } from '../core/errors.ts'
import type { Database } from '../store/database.ts'
import { stealDeadSteps } from '../store/liveness.ts'
import {
  claimDeadWorkers,
  enterWorker,
  findPerhapsBusySessions,
  giveUpDeadWorkers,
  leaveWorker,
  type KnownWorker,
} from '../store/workers.ts'
import { keepDoing } from './keep-doing.ts'

export const TAKE_OVER_EVERY_MS = 2000
/** Of gRPC: the workflow is over. */
const NOT_FOUND = 5
/** Temporal is asked for each. Whatever is left undone with more sessions waits for Temporal's own time-outs. */
const SESSIONS_LOOKED_AT = 1000
const AT_ONCE = 20
/** `PENDING_ACTIVITY_STATE_STARTED` of Temporal's API. */
const STARTED = 2

/** What a worker calls itself in Temporal: for people, and so that its attempts can be told from those of others. */
export function workerIdentity(host: string, pid: number, bootId: string): string {
  return `${pid}@${host}#${bootId}`
}

/**
 * @param self the boot id of the worker that takes over, in the namespace of `client`
 * @returns how many attempts of dead workers were ended
 */
export async function takeOver(db: Database, client: Client, self: string, graceMs?: number): Promise<number> {
  const taker = { bootId: self, namespace: client.options.namespace }
  try {
    // Before their steps are taken: a worker that dies meanwhile is not forgotten, and so counted, until these are too.
    const dead = await claimDeadWorkers(db, taker, graceMs)
    // First the leases are raised, which fences the dead; the rest only speeds things up.
    const stolen = await stealDeadSteps(db, taker, graceMs)
    await inBatches([...new Set(stolen.map(({ sessionId }) => sessionId))], (id) => unstick(client, id))
    const byToken = await inBatches(stolen, ({ token }) => endAttempt(client, new Uint8Array(token)))
    let ended = byToken.filter(Boolean).length
    for (const one of dead) ended += await search(db, client, one)
    return ended
  } catch (error) {
    // Others may reach what this one does not.
    await giveUpDeadWorkers(db, self).catch(() => undefined)
    throw error
  }
}

async function search(db: Database, client: Client, dead: KnownWorker): Promise<number> {
  const { bootId } = dead
  const sessions = await findPerhapsBusySessions(db, dead, SESSIONS_LOOKED_AT)
  const counts = await inBatches(sessions, (sessionId) => endLeft(client, sessionId, bootId))
  // Last of all: whoever dies before has another go on.
  await leaveWorker(db, bootId)
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Temporal is not asked more than this at a time, however much a dead worker had in hand. */
async function inBatches<T, R>(all: readonly T[], ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let from = 0; from < all.length; from += AT_ONCE)
    answers.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map(ask))))
  return answers
}

/** Attempts that Temporal had given to the dead worker, and that died before they reached the ledger, or after they had settled there. */
async function endLeft(client: Client, sessionId: string, bootId: string): Promise<number> {
  const description = await client.workflow
    .getHandle(sessionId)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined
      throw error
    })
  const left = (description?.raw.pendingActivities ?? []).filter(
    (activity) => activity.state === STARTED && activity.lastWorkerIdentity?.endsWith(`#${bootId}`),
  )
  if (left.length > 0) await unstick(client, sessionId)
  const ended = await Promise.all(
    left.map(({ activityId }) => endAttempt(client, { workflowId: sessionId, activityId: activityId ?? '' })),
  )
  return ended.filter(Boolean).length
}

/** Temporal keeps the workflow's next task for the worker that had it in its cache, dead or not, for a second. */
async function unstick(client: Client, sessionId: string): Promise<void> {
  const { namespace } = client.options
  await client.workflowService
    .resetStickyTaskQueue({ namespace, execution: { workflowId: sessionId } })
    .catch((error: unknown) => {
      if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) throw error
    })
}

/** An attempt that is over already is refused by Temporal: nothing is left to do. */
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

/** Looks at once and then every few seconds. @returns stops it */
export function keepTakingOver(
  db: Database,
  client: Client,
  self: KnownWorker,
  log: { info(message: string): void; warn(message: string): void },
  { tookOver }: { tookOver(steps: number): void },
): () => Promise<void> {
  const look = async (): Promise<void> => {
    try {
      // Another may have taken this worker for dead, e.g. while its connection was down.
      await enterWorker(db, self)
      const ended = await takeOver(db, client, self.bootId)
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
