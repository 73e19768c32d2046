/** Questions that only a worker of the agent can answer. */
import { StelloError, isStelloError } from '../core/errors.ts'
import { readServedAgents } from '../store/workers.ts'
import { notServed } from './not-served.ts'
import type { ClientDeps } from './start-session.ts'
import { serviceErrorOf } from './temporal-trouble.ts'

/** How long a worker may be missing in the store: it may just be taking its lock again. */
const UNSEEN_MS = 2000
/** The gRPC codes of a question that no worker has taken: the time is over, or Temporal has seen no worker recently. */
const DEADLINE_EXCEEDED = 4
const FAILED_PRECONDITION = 9

/** @throws StelloError AGENT_NOT_SERVED when no worker of the agent lives; it names the agents that are served */
export async function askServed<T>(
  { client, db, namespace }: ClientDeps,
  agent: string,
  ask: () => Promise<T>,
): Promise<T> {
  const served = await readServedAgents(db, namespace)
  if (served.includes(agent)) return ask()
  try {
    return await client.withDeadline(Date.now() + UNSEEN_MS, ask)
  } catch (error) {
    if (isStelloError(error) && !waitedForWorker(error)) throw error
    throw new StelloError('AGENT_NOT_SERVED', notServed(agent, served), {
      hint: 'start one: `stello worker FILE`',
      cause: error,
    })
  }
}

/** Whether Temporal was there, and had no worker that would answer it. */
function waitedForWorker({ code, cause }: StelloError): boolean {
  const asked = serviceErrorOf(cause)?.code
  return code === 'SERVER_UNREACHABLE' && (asked === DEADLINE_EXCEEDED || asked === FAILED_PRECONDITION)
}
