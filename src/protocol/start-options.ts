/** How the workflow of a session is started from outside of a workflow: by a client, or by a call that spawns an agent. */
import type { SearchAttributePair } from '@temporalio/common'
import type { SessionConfig } from './config.ts'
import { attributesOf } from './search-attributes.ts'
import { WORKFLOW_TASK_TIMEOUT, memoOf, summaryOf, type NewSession, type SessionInput } from './session-input.ts'

export interface Starting {
  session: NewSession
  /** Identity of the store that holds the session. */
  store: string | undefined
  searchable: boolean
  /** `REJECT_DUPLICATE`: no workflow of that id was ever started. `ALLOW_DUPLICATE`: none runs. */
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE'
}

export interface StartOptions {
  workflowId: string
  taskQueue: string
  args: [SessionInput]
  workflowIdReusePolicy: Starting['workflowIdReusePolicy']
  workflowTaskTimeout: typeof WORKFLOW_TASK_TIMEOUT
  staticSummary: string
  memo: Record<string, unknown>
  typedSearchAttributes?: SearchAttributePair[]
}

/** @param row of the session */
export function startOptions(
  row: { rootId: string; parentId?: string; config: Pick<SessionConfig, 'agent' | 'profile'> },
  { session, store, searchable, workflowIdReusePolicy }: Starting,
): StartOptions {
  const { rootId, parentId, config } = row
  const input: SessionInput = {
    session,
    agent: config.agent,
    rootId,
    searchable,
    ...(store !== undefined && { store }),
    ...(parentId !== undefined && { parentId }),
    ...(config.profile !== undefined && { profile: config.profile }),
  }
  return {
    workflowId: session.sessionId,
    taskQueue: config.agent,
    args: [input],
    workflowIdReusePolicy,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    staticSummary: summaryOf(input),
    memo: memoOf(input),
    ...(searchable && { typedSearchAttributes: attributesOf(input) }),
  }
}
