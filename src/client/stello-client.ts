/** The client: creates sessions, finds them, lists them. Talks to workflows by signals, reads from the store. */
import type { Client } from '@temporalio/client'
import type { SessionConfig } from '../protocol/config.ts'
import { readInbox, type InboxItem } from '../store/inbox.ts'
import { listSessions, readAgents, readSubtree, type SessionFilter, type SessionSummary } from '../store/topology.ts'
import { readServedAgents } from '../store/workers.ts'
import { createSessionHandle, type SessionHandle } from './session-handle.ts'
import { checkCreateSession, type CreateSessionOptions } from './options.ts'
import { checkProfile, mustExist, newSessionId, startSession, type ClientDeps } from './start-session.ts'

export interface StelloClient {
  /** @throws StelloError INVALID_ARGUMENT naming the field that is unknown, or not as it must be */
  createSession(options: CreateSessionOptions): Promise<SessionHandle>
  /** A handle without a look whether the session exists; its methods throw SESSION_NOT_FOUND. */
  session(sessionId: string): SessionHandle
  list(filter?: SessionFilter): Promise<SessionSummary[]>
  /** What waits for a person, questions and pauses, oldest first: everywhere, or in a session and everything below it. */
  inbox(sessionId?: string): Promise<InboxItem[]>
  /** Names of the agents that workers have served. */
  agents(): Promise<string[]>
  /** Names of the agents that living workers serve now. Sessions of others wait until a worker serves these. */
  servedAgents(): Promise<string[]>
  /** Link to a session's workflow in the Temporal UI, where its address is known. */
  uiLink(sessionId?: string): string | undefined
  /** The connection to Temporal, for what this client has no word for. */
  readonly temporal: Client
  close(): Promise<void>
}

export function createStelloClient(deps: ClientDeps): StelloClient {
  const { client, db, listener } = deps
  return {
    temporal: client,
    session: (sessionId) => createSessionHandle(deps, sessionId),
    list: (filter) => listSessions(db, filter),
    async inbox(sessionId) {
      if (sessionId === undefined) return readInbox(db)
      await mustExist(db, sessionId)
      return readInbox(db, await readSubtree(db, sessionId))
    },
    servedAgents: () => readServedAgents(db, deps.namespace),
    agents: async () => (await readAgents(db)).map((agent) => agent.name),
    uiLink: (sessionId) =>
      deps.uiUrl &&
      `${deps.uiUrl}/namespaces/${deps.namespace}/workflows${sessionId === undefined ? '' : `/${sessionId}`}`,
    async createSession(given) {
      const { sessionId = newSessionId(), bounds = {}, ...options } = checkCreateSession(given)
      const config = toConfig(options)
      await checkProfile(db, config.agent, config.profile)
      await startSession(deps, { sessionId, rootId: sessionId, depth: 0, config, bounds })
      return createSessionHandle(deps, sessionId)
    },
    async close() {
      await listener.close()
      await db.close()
      await client.connection.close()
    },
  }
}

type Configuring = Omit<CreateSessionOptions, 'sessionId' | 'bounds'>

function toConfig({ agent, profile, label = agent, ...rest }: Configuring): SessionConfig {
  const source = profile === undefined ? 'agent' : (`profile:${profile}` as const)
  return { ...rest, agent, label, model: source, tools: source, ...(profile !== undefined && { profile }) }
}
