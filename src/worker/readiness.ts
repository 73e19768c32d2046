/** Checks whether a worker can work. It is asked from outside, again and again. Changes nothing. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { messageOf } from '../core/errors.ts'
import { pollersOf } from '../temporal/pollers.ts'
import type { Readiness } from './health.ts'
import { ANSWERS, run, type Database } from '../store/database/database.ts'
import type { Liveness } from '../store/ledger/liveness.ts'
import type { TemporalWorkers } from './temporal-workers.ts'

const STORE_WITHIN_MS = 2000

/** The parts of a worker that exist so far. */
export interface WorkerParts {
  agent: string
  /** Its name in Temporal's list. */
  identity: string
  db: Database
  liveness: Pick<Liveness, 'held'>
  client: Client
  workers: Pick<TemporalWorkers, 'slots' | 'stopping'>
}

/** @param parts unset: the worker is still starting */
export async function readinessOf(agent: string, parts: WorkerParts | undefined): Promise<Readiness> {
  if (!parts) return { agent, problems: ['it is starting'] }
  const [store, poll] = await Promise.all([askStore(parts.db), lastPoll(parts)])
  const lock = parts.liveness.held()
  const problems = [
    ...(parts.workers.stopping() ? ['it is stopping'] : []),
    ...(store === 'ok' ? [] : [store]),
    ...(lock ? [] : ['the lock that says it lives is not held']),
    ...(typeof poll === 'number' ? [] : [poll]),
  ]
  return {
    agent,
    problems,
    store,
    lock,
    ...(typeof poll === 'number' && { lastPollSeconds: poll }),
    slots: parts.workers.slots(),
  }
}

async function askStore(db: Database): Promise<string> {
  const late = new AbortController()
  const asked = run(db.pool, ANSWERS, []).then(() => 'ok', messageOf)
  const overdue = delay(STORE_WITHIN_MS, `the store does not answer within ${STORE_WITHIN_MS / 1000} s`, {
    signal: late.signal,
  }).catch(() => 'ok')
  return Promise.race([asked, overdue]).finally(() => late.abort())
}

/** @returns seconds, or the problem */
async function lastPoll({ client, agent, identity }: WorkerParts): Promise<number | string> {
  try {
    const own = (await pollersOf(client, agent)).find((poller) => poller.identity === identity)
    if (!own) return 'it does not ask Temporal for work'
    return Math.max(0, Math.round((Date.now() - own.polledAt.getTime()) / 1000))
  } catch (error) {
    return `Temporal does not answer: ${messageOf(error)}`
  }
}
