/** Every time-out and retry policy of the project. */
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  type ActivityOptions,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow'
import { IN_LINE_MS } from '../protocol/limits.ts'
import type { SessionActivities } from '../protocol/session-activities.ts'
import type { Elsewhere } from '../protocol/steps.ts'
import { NO_ROOM, POOLS, hostQueueOf, taskQueueOf, type Pool } from '../protocol/task-queues.ts'

/**
 * The longest outage of Temporal that a running step survives undisturbed. Lost workers are found much sooner, by
 * taking over.
 */
const HEARTBEAT_MS = 60_000
/** What a step may need beyond its own time-out, for reading and settling. The worker enforces the time-out itself. */
const BACKSTOP_MS = 30_000
type StepName = 'callModel' | 'compact' | 'callTool' | 'openChild'
/** Before the step is taken, a model call may stand in line. */
const STANDING_MS: Readonly<Record<StepName, number>> = {
  callModel: IN_LINE_MS,
  compact: IN_LINE_MS,
  callTool: 0,
  openChild: 0,
}

/**
 * Retries serve infrastructure only, so they have no limit: attempts at the tool or the model are counted in the
 * ledger. The backstop is not retried: the workflow then asks the ledger to end the step.
 */
const retry = {
  initialInterval: '500 milliseconds',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
  nonRetryableErrorTypes: ['TemporalTimeout:StartToClose'],
} as const satisfies ActivityOptions['retry']

/** A model or tool call of at most `timeoutMs`. WAIT_CANCELLATION_COMPLETED: the worker settles a cancelled step itself. */
export function stepActivity<Name extends StepName>(
  name: Name,
  timeoutMs: number,
  summary: string,
): SessionActivities[Name] {
  return activity(name, stepOptions(name, timeoutMs, summary))
}

function stepOptions(name: StepName, timeoutMs: number, summary: string): ActivityOptions {
  return {
    startToCloseTimeout: timeoutMs + STANDING_MS[name] + HEARTBEAT_MS + BACKSTOP_MS,
    heartbeatTimeout: HEARTBEAT_MS,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry,
    summary,
  }
}

/** A tool call on the host that has its working folder. It waits there for at most `withinMs`. */
export function hostActivity(
  { host, withinMs }: Elsewhere,
  timeoutMs: number,
  summary: string,
): SessionActivities['callTool'] {
  const options = { ...stepOptions('callTool', timeoutMs, summary), scheduleToStartTimeout: withinMs }
  const taskQueue = hostQueueOf(workflowInfo().taskQueue, host)
  return proxyActivities<SessionActivities>({ ...options, taskQueue }).callTool
}

/**
 * Ends a lost call. Its tool may take some time to find out what happened, until the turn is cancelled. It is never
 * given up.
 */
export function verifyingSettle(timeoutMs: number, summary: string): SessionActivities['settleTool'] {
  return activity('settleTool', {
    startToCloseTimeout: timeoutMs + BACKSTOP_MS,
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { ...retry, nonRetryableErrorTypes: [] },
    summary,
  })
}

/** Opening runs a profile's `contextFn`, which the worker bounds; a dead worker is noticed by its heartbeats. */
export function openingActivity(): SessionActivities['openSession'] {
  return activity('openSession', {
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.ABANDON,
    retry: { ...retry, nonRetryableErrorTypes: [] },
    summary: 'open session',
  })
}

/** The worker bounds each try, and says when it was the last one. */
export function noticeActivity(summary: string): SessionActivities['notifyPeople'] {
  return activity('notifyPeople', {
    startToCloseTimeout: '30 seconds',
    cancellationType: ActivityCancellationType.ABANDON,
    retry: { ...retry, nonRetryableErrorTypes: [] },
    summary,
  })
}

/** Packs end what a closed session has left running. A host that is away for so long has lost it, or ends it by time-out. */
export function releaseActivity(host: string | undefined): SessionActivities['releaseSession'] {
  const { taskQueue } = workflowInfo()
  return proxyActivities<SessionActivities>({
    taskQueue: host === undefined ? taskQueueOf(taskQueue, POOLS.releaseSession[0]) : hostQueueOf(taskQueue, host),
    scheduleToStartTimeout: '1 minute',
    startToCloseTimeout: '2 minutes',
    cancellationType: ActivityCancellationType.ABANDON,
    retry: { ...retry, maximumAttempts: 5 },
    summary: 'end what the session has left running',
  }).releaseSession
}

/** Short work with the store. It is never cancelled, and tried until the store answers. */
export function storeActivity<
  Name extends 'settleModel' | 'settleCompaction' | 'settleTool' | 'announce' | 'describeChildren',
>(name: Name, summary: string): SessionActivities[Name] {
  return activity(name, {
    startToCloseTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.ABANDON,
    retry: { ...retry, nonRetryableErrorTypes: [] },
    summary,
  })
}

/** Moves on to the next queue of its kind when a worker has refused the work before it began. */
function activity<Name extends keyof SessionActivities>(name: Name, options: ActivityOptions): SessionActivities[Name] {
  const inPool = (pool: Pool): SessionActivities[Name] => {
    const taskQueue = taskQueueOf(workflowInfo().taskQueue, pool)
    return proxyActivities<SessionActivities>({ ...options, taskQueue })[name]
  }
  const [first, second] = POOLS[name]
  const start = inPool(first)
  if (!second) return start
  const started = async (input: never): Promise<unknown> => {
    try {
      return await start(input)
    } catch (error) {
      if (!isRefused(error)) throw error
      return inPool(second)(input)
    }
  }
  return started as SessionActivities[Name]
}

function isRefused(error: unknown): boolean {
  return error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === NO_ROOM
}
