/**
 * The task queues of an agent, each with slots of its own in every worker: what may take long must not stand before what
 * has to get through. Known to the sandbox and to the worker.
 */
import type { SessionActivities } from '../session/steps.ts'

/** `models` is the queue of the workflows too: only there Temporal hands an activity out together with its task. */
export type Pool = 'models' | 'tools' | 'control'

/** User code that runs for as long as it likes is in `tools`; `control` is what pauses, answers, cancels and closes. */
export const POOLS: { readonly [Name in keyof SessionActivities]: Pool } = {
  openSession: 'models',
  callModel: 'models',
  callTool: 'tools',
  openChild: 'tools',
  settleStep: 'control',
  announce: 'control',
  describeChildren: 'control',
}

/** No agent is called like that: names of agents have no white space. */
export function taskQueueOf(agent: string, pool: Pool): string {
  return pool === 'models' ? agent : `${agent} ${pool}`
}
