/** Finds the workers that ask Temporal for the work of an agent. Without such a worker, the agent's sessions wait. */
import type { Client } from '@temporalio/client'

export interface Poller {
  /** `pid@host#boot id` for our workers; other programs choose their own text. */
  identity: string
  /** When it last began to ask. */
  polledAt: Date
}

/** Temporal lists a poller for minutes. A living one asks again at least once a minute. */
const POLLS_WITHIN_MS = 75_000
/** The longest wait for Temporal's answer when sessions are started or listed. */
const ANSWER_WITHIN_MS = 3000

/**
 * The workers that have recently asked for work of an agent. A killed one still counts for up to 75 seconds.
 *
 * @param agent its name; one that nobody has ever served has no pollers
 * @throws Temporal's error, or an error when it has not answered within 3 s
 * @example (await pollersOf(client, 'research')).length === 0 // no worker serves this agent
 */
export async function pollersOf(client: Client, agent: string): Promise<Poller[]> {
  const { connection, options } = client
  const { pollers } = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
    // Without a type, Temporal describes the queue of workflows.
    connection.workflowService.describeTaskQueue({ namespace: options.namespace, taskQueue: { name: agent } }),
  )
  const known = (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    polledAt: new Date(Number(lastAccessTime?.seconds ?? 0) * 1000),
  }))
  return known.filter(({ polledAt }) => Date.now() - polledAt.getTime() < POLLS_WITHIN_MS)
}
