/**
 * The Temporal workers of one process: one per task queue of the agent, each with slots of its own, run and shut down as
 * one. What waits for a slot waits in Temporal, where it has not begun and no time-out of its own runs.
 */
import { ApplicationFailure } from '@temporalio/common'
import { Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker'
import { StelloError } from '../core/errors.ts'
import type { SessionActivities } from '../protocol/activities.ts'
import { NO_ROOM, POOLS, taskQueueOf, type Pool } from '../protocol/task-queues.ts'

/** How many of each kind one worker process runs at once; what is more waits. */
export interface Concurrency {
  /** Model calls, and openings of sessions. Default 100. Tools may take half of these slots. */
  models?: number
  /** Tools, and openings of child sessions. Default 100. */
  tools?: number
}

/** Short work with the store: more would wait for its connections. A tool's `verify` runs here too. */
const CONTROL_SLOTS = 40
/**
 * Sessions that decide at once. A decision takes milliseconds, but a worker that has just started replays what it has not
 * in memory: many replays at once would share the processor until all of them miss the time-out of a workflow task.
 */
const WORKFLOW_TASKS = 8

/** A tool may wait so long for room beside the model calls. */
const A_MOMENT_MS = 100

export interface TemporalWorkers {
  /** Resolves when all have stopped. One that fails stops the others, and rejects. */
  run(): Promise<void>
  shutdown(): void
  /** How many activities run at once, and how many may. */
  slots(): Record<Pool, Slots>
}

export interface Slots {
  inUse: number
  of: number
}

export type TemporalWorkersOptions = Pick<
  WorkerOptions,
  'connection' | 'namespace' | 'identity' | 'maxCachedWorkflows'
> & {
  agent: string
  activities: SessionActivities
  workflowBundle: WorkflowBundleOption
  concurrency: Concurrency
  graceMs: number
}

/** @throws StelloError INVALID_ARGUMENT for a concurrency that is no positive integer */
export async function createTemporalWorkers(options: TemporalWorkersOptions): Promise<TemporalWorkers> {
  const { agent, activities, workflowBundle, concurrency, graceMs, maxCachedWorkflows, ...shared } = options
  const { models, tools } = slotsOf(concurrency)
  const besideModels = Math.floor(Math.min(models, tools) / 2)
  const served = { ...activities, callTool: atMost(besideModels, activities.callTool) }
  const create = (pool: Pool, slots: number, more: Partial<WorkerOptions> = {}): Promise<Worker> =>
    Worker.create({
      ...shared,
      taskQueue: taskQueueOf(agent, pool),
      activities: activitiesOf(pool === 'models' ? served : activities, pool),
      maxConcurrentActivityTaskExecutions: slots,
      shutdownGraceTime: graceMs,
      // A cancellation arrives with the answer to a heartbeat.
      maxHeartbeatThrottleInterval: '1s',
      defaultHeartbeatThrottleInterval: '1s',
      ...more,
    })
  const workers = [
    await create('models', models, {
      workflowBundle,
      maxCachedWorkflows: maxCachedWorkflows ?? 200,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
      // A killed worker's sticky queue is given up after this (default 10 s).
      stickyQueueScheduleToStartTimeout: '1s',
    }),
    await create('tools', tools - besideModels),
    await create('control', CONTROL_SLOTS),
  ] as const
  const shutdown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
  }
  const slotsOfPool = (worker: Worker, of: number): Slots => ({
    inUse: worker.getStatus().numInFlightNonLocalActivities,
    of,
  })
  return {
    shutdown,
    slots: () => ({
      models: slotsOfPool(workers[0], models),
      tools: slotsOfPool(workers[1], tools),
      control: slotsOfPool(workers[2], CONTROL_SLOTS),
    }),
    async run() {
      const ends = await Promise.allSettled(
        workers.map((worker) =>
          worker.run().catch((error: unknown) => {
            shutdown()
            throw error
          }),
        ),
      )
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed) throw failed.reason
    },
  }
}

function slotsOf({ models = 100, tools = 100 }: Concurrency): Required<Concurrency> {
  for (const [what, slots] of Object.entries({ models, tools })) {
    if (Number.isSafeInteger(slots) && slots > 0) continue
    throw new StelloError('INVALID_ARGUMENT', `concurrency: ${what} is ${slots}, which is no number of slots`, {
      hint: 'give a positive integer',
    })
  }
  return { models, tools }
}

function activitiesOf(activities: SessionActivities, pool: Pool): Partial<SessionActivities> {
  return Object.fromEntries(
    Object.entries(activities).filter(([name]) => POOLS[name as keyof SessionActivities].includes(pool)),
  )
}

/**
 * Half of the slots at most are for tools where model calls run: there a tool starts with its workflow task, and however long
 * tools take, model calls keep the other half. Most tools are short: one that finds no room waits a moment for it.
 */
function atMost<Input, Outcome>(slots: number, run: (input: Input) => Promise<Outcome>): typeof run {
  let free = slots
  const waiting = new Set<() => void>()
  const room = async (): Promise<void> => {
    if (free > 0) return void free--
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(patience)
        waiting.delete(enter)
        resolve()
      }
      const patience = setTimeout(() => {
        waiting.delete(enter)
        const message = `${slots} tools run beside the model calls of this worker: it waits in the queue of the tools`
        reject(ApplicationFailure.create({ message, type: NO_ROOM, nonRetryable: true }))
      }, slots && A_MOMENT_MS)
      waiting.add(enter)
    })
  }
  return async (input) => {
    await room()
    try {
      return await run(input)
    } finally {
      const [next] = waiting
      if (next) next()
      else free++
    }
  }
}
