/**
 * The Temporal Workers of one process: one per task queue of the agent, each with slots of its own, run and shut down
 * as one. Work that waits for a slot waits in Temporal. It has not begun, and none of its time-outs runs.
 */
import { ApplicationFailure } from '@temporalio/common'
import { Worker, type WorkerOptions } from '@temporalio/worker'
import { StelloError } from '../core/errors.ts'
import type { SessionActivities } from '../protocol/session-activities.ts'
import { NO_ROOM, POOLS, hostQueueOf, taskQueueOf, type Pool } from '../protocol/task-queues.ts'
import { keepDoing } from './keep-doing.ts'

/** How many of each kind one worker process runs at once. More work waits. */
export interface Concurrency {
  /** Model calls, and openings of sessions. Default 100. Tools may take half of these slots. */
  models?: number
  /** Tools, and openings of child sessions. Default 100. */
  tools?: number
}

/** Short work with the store. More at once would only wait for connections. A tool's `verify` runs here too. */
const CONTROL_SLOTS = 40
/**
 * How many sessions decide at once. A decision takes milliseconds, but a new worker replays every session that it does
 * not have in memory. Many replays at once would share the processor until all of them miss the time-out of a workflow
 * task.
 */
export const WORKFLOW_TASKS = 12

/** How long a tool may wait for room beside the model calls. */
const A_MOMENT_MS = 100

/** Temporal also shuts a Worker down by itself, at a signal of the process, and reports nothing. */
const LOOK_EVERY_MS = 50

export interface TemporalWorkers {
  /** Resolves when all have stopped. If one stops or fails, it stops the others. A failure rejects. */
  run(): Promise<void>
  shutdown(): void
  /** It accepts no new work any more. */
  stopping(): boolean
  /** How many activities run at once, and how many may. */
  slots(): Record<string, Slots>
}

export interface Slots {
  inUse: number
  of: number
}

/** The options of a Worker that depend on its queue. */
export type PoolOptions = Pick<WorkerOptions, 'taskQueue' | 'maxConcurrentActivityTaskExecutions'> & {
  activities: Partial<SessionActivities>
}

/** `host`: the calls that run in the working folders of this host, if the agent has such folders. */
export type Pools = Record<Pool, PoolOptions> & { host?: PoolOptions }

/**
 * @param at.host the host on which the worker runs; unset: its agent has no working folders
 * @throws StelloError INVALID_ARGUMENT when a concurrency is not a positive integer
 */
export function poolsOf(
  { agent, host }: { agent: string; host?: string | undefined },
  activities: SessionActivities,
  concurrency: Concurrency = {},
): Pools {
  const { models, tools } = slotsOf(concurrency)
  const besideModels = Math.floor(Math.min(models, tools) / 2)
  const served = { ...activities, callTool: atMost(besideModels, activities.callTool) }
  const pool = (name: Pool, slots: number): PoolOptions => ({
    taskQueue: taskQueueOf(agent, name),
    activities: activitiesOf(name === 'models' ? served : activities, name),
    maxConcurrentActivityTaskExecutions: slots,
  })
  return {
    models: pool('models', models),
    tools: pool('tools', tools - besideModels),
    control: pool('control', CONTROL_SLOTS),
    ...(host !== undefined && {
      host: {
        taskQueue: hostQueueOf(agent, host),
        activities: { callTool: activities.callTool, releaseSession: activities.releaseSession },
        maxConcurrentActivityTaskExecutions: tools,
      },
    }),
  }
}

/**
 * @param models serves the workflows too
 * @param runModels runs it
 * @param shared the options that the other Workers share with it
 * @param stops told once, when they begin to stop
 */
export async function besideModels(
  { models, runModels, pools }: { models: Worker; runModels(): Promise<void>; pools: Pools },
  shared: Omit<WorkerOptions, 'taskQueue'>,
  stops: () => void,
): Promise<TemporalWorkers> {
  const { models: _given, ...others } = pools
  const workers: Record<string, Worker> = { models }
  for (const [name, pool] of Object.entries(others)) workers[name] = await Worker.create({ ...shared, ...pool })
  const shutdown = (): void => {
    for (const worker of Object.values(workers)) if (worker.getState() === 'RUNNING') worker.shutdown()
  }
  const stopping = (): boolean => Object.values(workers).some(hasStopped)
  const slotsOfPool = ([name, pool]: [string, PoolOptions]): [string, Slots] => [
    name,
    {
      inUse: workers[name]?.getStatus().numInFlightNonLocalActivities ?? 0,
      of: pool.maxConcurrentActivityTaskExecutions ?? 0,
    },
  ]
  return {
    shutdown,
    stopping,
    slots: () => Object.fromEntries(Object.entries(pools).map(slotsOfPool)),
    async run() {
      let told = false
      const stopLooking = keepDoing(async () => {
        if (!stopping()) return
        shutdown()
        if (!told) stops()
        told = true
      }, LOOK_EVERY_MS)
      const ends = await Promise.allSettled(
        Object.entries(workers)
          .map(([name, worker]) => (name === 'models' ? runModels() : worker.run()))
          .map((ended) =>
            ended.catch((error: unknown) => {
              shutdown()
              throw error
            }),
          ),
      )
      await stopLooking()
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed) throw failed.reason
    },
  }
}

function hasStopped(worker: Worker): boolean {
  const state = worker.getState()
  return state !== 'INITIALIZED' && state !== 'RUNNING'
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
 * Tools take at most half of the slots of model calls. A tool that runs there starts together with its workflow task, and model
 * calls keep the other half, however long tools take. Most tools are short, so a tool that finds no room waits a moment for it.
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
