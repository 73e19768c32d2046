/**
 * The task queues of an agent, each with slots of its own in every worker: what may take long must not stand before what
 * has to get through. Known to the sandbox and to the worker.
 */
import type { SessionActivities } from './session-activities.ts'

/** `models` is the queue of the workflows too: only there Temporal hands an activity out together with its task. */
export type Pool = 'models' | 'tools' | 'control'

/**
 * User code that runs for as long as it likes is in `tools`; `control` is what pauses, answers, cancels and closes. A tool
 * is tried first where it costs least; a worker that has no room for it there refuses it, and it waits in the other queue.
 */
export const POOLS: { readonly [Name in keyof SessionActivities]: readonly [Pool, ...Pool[]] } = {
  openSession: ['models'],
  callModel: ['models'],
  compact: ['models'],
  settleCompaction: ['control'],
  callTool: ['models', 'tools'],
  openChild: ['tools'],
  settleModel: ['control'],
  settleTool: ['control'],
  announce: ['control'],
  notifyPeople: ['tools'],
  releaseSession: ['tools'],
  describeChildren: ['control'],
}

/** The type of the failure by which a worker refuses a tool before it has begun. */
export const NO_ROOM = 'NO_ROOM'

/** No agent has such a name, because names of agents have no white space. */
export function taskQueueOf(agent: string, pool: Pool): string {
  return pool === 'models' ? agent : `${agent} ${pool}`
}

/** The queue of the calls that must run on one host, because their working folder is there. */
export function hostQueueOf(agent: string, host: string): string {
  return `${agent} host ${host}`
}
