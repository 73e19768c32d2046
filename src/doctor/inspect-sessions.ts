/**
 * Checks whether every agent with open sessions is served, and whether Temporal and the store know the same sessions.
 */
import type { Client } from '@temporalio/client'
import type { Finding } from './diagnose.ts'
import type { Database } from '../store/database/database.ts'
import { readBusyAgents, readClosed, readOpenIds } from '../store/database/inspect.ts'
import { SESSION_WORKFLOW } from '../protocol/session-input.ts'
import { readServedAgents } from '../store/ledger/workers.ts'
import { servedNow } from '../client/not-served.ts'
import { describeWorkflow } from '../temporal/describe-workflow.ts'
import { pollersOf } from '../temporal/pollers.ts'
import { temporalTrouble } from '../temporal/temporal-trouble.ts'

/** How many sessions are compared one by one. */
const COMPARED = 10_000
/** Temporal's list is late, so each difference is checked again. */
const LOOKED_AT = 100
const NAMED = 5

export async function inspectSessions(client: Client, db: Database): Promise<Finding[]> {
  const { namespace } = client.options
  try {
    const [agents, now] = [await readBusyAgents(db, namespace), await readServedAgents(db, namespace)]
    return [...(await Promise.all(agents.map((agent) => served(client, agent, now)))), await compared(client, db)]
  } catch (error) {
    const { what, hint } = temporalTrouble(error)
    return [{ name: 'Sessions', ok: false, detail: what, hint }]
  }
}

/** @param now the agents that living workers of this store serve */
async function served(
  client: Client,
  { agent, sessions }: { agent: string; sessions: number },
  now: string[],
): Promise<Finding> {
  const name = `Agent ${agent}`
  const pollers = await pollersOf(client, agent)
  const open = `${sessions} open session${sessions === 1 ? '' : 's'}`
  if (pollers.length > 0) {
    return { name, ok: true, detail: `${open}, served by ${pollers.map(({ identity }) => identity).join(', ')}` }
  }
  const hint = 'start one: stello worker FILE, on this namespace and this store'
  return { name, ok: false, detail: `${open}, and no worker polls for it: they wait; ${servedNow(now)}`, hint }
}

async function compared(client: Client, db: Database): Promise<Finding> {
  const name = 'Sessions'
  const open = await readOpenIds(db, client.options.namespace, COMPARED + 1)
  const running = await runningIds(client)
  if (open.length > COMPARED || running.size > COMPARED)
    return { name, ok: true, detail: `more than ${COMPARED}: they are not compared one by one` }
  const known = new Set(open)
  const lost = await those(
    open.filter((id) => !running.has(id)),
    async (id) => !(await runs(client, id)),
  )
  const strange = await those(
    [...running].filter((id) => !known.has(id)),
    (id) => runs(client, id),
  )
  const closed = new Set(await readClosed(db, strange))
  // A session that was opened or closed meanwhile is no difference.
  const again = new Set(await readOpenIds(db, client.options.namespace, COMPARED + 1))
  const gone = lost.filter((id) => again.has(id))
  const foreign = strange.filter((id) => !again.has(id) && !closed.has(id))
  if (gone.length > 0) {
    return {
      name,
      ok: false,
      detail: `${open.length} are open, and of these no workflow runs: ${named(gone)}`,
      hint: 'were they terminated, or is Temporal restored from a copy? `stello recover --all` starts them from the store',
    }
  }
  if (foreign.length > 0) {
    return {
      name,
      ok: true,
      warning: true,
      detail: `workflows run that this store does not know: ${named(foreign)}`,
      hint: 'is STELLO_DATABASE_URL the store of this namespace? Where it is, end them: temporal workflow terminate',
    }
  }
  return { name, ok: true, detail: `${open.length} open, and a workflow runs for each` }
}

async function runningIds(client: Client): Promise<Set<string>> {
  const ids = new Set<string>()
  const query = `WorkflowType = '${SESSION_WORKFLOW}' and ExecutionStatus = 'Running'`
  for await (const { workflowId } of client.workflow.list({ query })) {
    ids.add(workflowId)
    if (ids.size > COMPARED) break
  }
  return ids
}

async function runs(client: Client, id: string): Promise<boolean> {
  return (await describeWorkflow(client, id))?.status.name === 'RUNNING'
}

async function those(ids: string[], fits: (id: string) => Promise<boolean>): Promise<string[]> {
  const kept: string[] = []
  for (const id of ids.slice(0, LOOKED_AT)) if (await fits(id)) kept.push(id)
  return [...kept, ...ids.slice(LOOKED_AT)]
}

function named(ids: string[]): string {
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : ''
  return ids.slice(0, NAMED).join(', ') + more
}
