/** Who asks Temporal for the work of an agent. Without such a worker, what an agent's sessions are to do waits. */
import type { Client } from '@temporalio/client'

export interface Poller {
  /** `pid@host#boot id` of a worker of ours; other programs call themselves as they like. */
  identity: string
  /** When it last began to ask. */
  polledAt: Date
}

/** Temporal lists a poller for minutes. One that lives asks anew at least once a minute. */
const POLLS_WITHIN_MS = 75_000
/** Nobody who starts a session or lists some waits longer for an answer of Temporal. */
const ANSWER_WITHIN_MS = 3000

/**
 * The workers that have asked for work of an agent a short while ago. One that was killed counts for up to 75 seconds more.
 *
 * @param agent its name; one that nobody has ever served has no pollers
 * @throws what Temporal says, or that it has not answered within 3 s
 * @example (await pollersOf(client, 'research')).length === 0 // no worker serves this agent
 */
export async function pollersOf(client: Client, agent: string): Promise<Poller[]> {
  const { connection, options } = client
  const { pollers } = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
    // Without a type, the queue of workflows is described.
    connection.workflowService.describeTaskQueue({ namespace: options.namespace, taskQueue: { name: agent } }),
  )
  const known = (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    polledAt: new Date(Number(lastAccessTime?.seconds ?? 0) * 1000),
  }))
  return known.filter(({ polledAt }) => Date.now() - polledAt.getTime() < POLLS_WITHIN_MS)
}
