/** The client: creates sessions, finds them, lists them. Talks to workflows by signals, reads from the store. */
import type { Client } from '@temporalio/client'
import { StelloError } from '../agent/errors.ts'
import { filterProblem } from '../agent/tool-filter.ts'
import type { SessionConfig } from '../session/config.ts'
import { readInbox, type InboxItem } from '../store/pending.ts'
import { listSessions, readAgents, readSubtree, type SessionFilter, type SessionSummary } from '../store/topology.ts'
import { createSessionHandle, type SessionHandle } from './session-handle.ts'
import {
  checkName,
  checkProfile,
  checkSessionId,
  mustExist,
  newSessionId,
  startSession,
  type ClientDeps,
} from './start-session.ts'

export interface CreateSessionOptions {
  /** Name of the agent; a worker that serves it may be started later. */
  agent: string
  /** Display name, at most 200 characters. Default: the agent's name. */
  label?: string
  /** A fork profile whose model, tools, skills, tool filters, limits and prompt (by its mode) the session gets. */
  profile?: string
  systemPrompt?: string
  /** Narrows what agent and profile allow; Stello's two stay. */
  allowedTools?: string[]
  disallowedTools?: string[]
  permissionMode?: string
  userId?: string
  /** Default: a new one. Letters, digits, `.`, `_`, `-`; at most 100. */
  sessionId?: string
}

export interface StelloClient {
  createSession(options: CreateSessionOptions): Promise<SessionHandle>
  /** A handle without a look whether the session exists; its methods throw SESSION_NOT_FOUND. */
  session(sessionId: string): SessionHandle
  list(filter?: SessionFilter): Promise<SessionSummary[]>
  /** What waits for a person, oldest first: everywhere, or in a session and everything below it. */
  inbox(sessionId?: string): Promise<InboxItem[]>
  /** Names of the agents that workers have served. */
  agents(): Promise<string[]>
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
    agents: async () => (await readAgents(db)).map((agent) => agent.name),
    uiLink: (sessionId) =>
      deps.uiUrl &&
      `${deps.uiUrl}/namespaces/${deps.namespace}/workflows${sessionId === undefined ? '' : `/${sessionId}`}`,
    async createSession(options) {
      const sessionId = checkSessionId(options.sessionId ?? newSessionId())
      const config = toConfig(options)
      await checkProfile(db, config.agent, config.profile)
      await startSession(deps, { sessionId, rootId: sessionId, depth: 0, config })
      return createSessionHandle(deps, sessionId)
    },
    async close() {
      await listener.close()
      await db.close()
      await client.connection.close()
    },
  }
}

function toConfig(options: CreateSessionOptions): SessionConfig {
  const { agent, profile, sessionId: _id, label = agent, ...rest } = options
  checkName('createSession: agent', agent)
  checkName('createSession: label', label)
  const filtering = filterProblem(options)
  if (filtering) {
    throw new StelloError('INVALID_ARGUMENT', `createSession: ${filtering}`, { hint: "e.g. ['read_file', 'search']" })
  }
  const source = profile === undefined ? 'agent' : (`profile:${profile}` as const)
  return { agent, label, model: source, tools: source, ...rest, ...(profile !== undefined && { profile }) }
}
