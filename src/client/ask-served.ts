/** Questions that only a worker of the agent can answer. */
import { StelloError, isStelloError } from '../core/errors.ts'
import { readServedAgents } from '../store/ledger/workers.ts'
import { notServed } from './not-served.ts'
import type { ClientDeps } from './client-deps.ts'
import { serviceErrorOf } from '../temporal/temporal-trouble.ts'

/** How long a worker may be missing in the store: it may just be taking its lock again. */
const UNSEEN_MS = 2000
/**
 * The gRPC codes of a question that no worker has taken. Temporal has seen no worker recently, or the time is over:
 * then the client's own clock ends the call, unless the server has reset the stream a moment before.
 */
const FAILED_PRECONDITION = 9
const DEADLINE_EXCEEDED = 4
const CANCELLED = 1
const NOT_TAKEN: readonly number[] = [FAILED_PRECONDITION, DEADLINE_EXCEEDED, CANCELLED]

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
  const asked = serviceErrorOf(cause)
  return code === 'SERVER_UNREACHABLE' && asked !== undefined && NOT_TAKEN.includes(asked.code)
}
