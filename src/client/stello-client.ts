/** The client: creates sessions, finds them, lists them. Talks to workflows by signals, reads from the store. */
import type { Client } from '@temporalio/client'
import type { SessionConfig } from '../protocol/config.ts'
import { StelloError } from '../core/errors.ts'
import { readInbox, type InboxItem } from '../store/watching/inbox.ts'
import { forgetRule, listKeptRules, type KeptRule } from '../store/sessions/kept-rules.ts'
import { readAgents } from '../store/sessions/served-agents.ts'
import { findSessions } from '../store/sessions/find-sessions.ts'
import { listSessions, type SessionFilter, type SessionSummary } from '../store/sessions/sessions.ts'
import { listRoots, type RootFilter, type RootSummary } from '../store/sessions/roots.ts'
import { searchRecords, type SearchHit, type SearchOptions } from '../store/transcript/search.ts'
import { readSubtree } from '../store/sessions/tree.ts'
import { readServedAgents } from '../store/ledger/workers.ts'
import { createSessionHandle, type SessionHandle } from './session-handle.ts'
import { checkCreateSession, type CreateSessionOptions } from './options.ts'
import { checkRoots, checkSearch } from './reading-options.ts'
import type { ClientDeps } from './client-deps.ts'
import { checkProfile, mustExist, newSessionId, startSession } from './start-session.ts'

/** Creates sessions, finds them and lists them. */
export interface StelloClient {
  /**
   * Creates a session of an agent, the root of a new tree. No worker need run: the session waits for one.
   *
   * @throws StelloError INVALID_ARGUMENT naming the field that is unknown or has a wrong value; SESSION_EXISTS when the id
   *   is taken; SERVER_UNREACHABLE, STORE_UNAVAILABLE
   * @example const session = await stello.createSession({ agent: 'changes', label: 'last week' })
   */
  createSession(options: CreateSessionOptions): Promise<SessionHandle>
  /**
   * A handle of a session. Whether the session exists is not checked here; the methods throw SESSION_NOT_FOUND.
   *
   * @example await stello.session('changes-k7q2m4xw6dnf').state()
   */
  session(sessionId: string): SessionHandle
  /**
   * Sessions, newest first.
   *
   * @throws StelloError STORE_UNAVAILABLE
   * @example const paused = await stello.list({ state: 'paused' })
   */
  list(filter?: SessionFilter): Promise<SessionSummary[]>
  /**
   * The sessions that a person may mean by a text. The first of these that exists: the session with that id; the open sessions
   * with that label; the sessions whose id begins with it; the closed sessions with that label. Newest first, at most ten.
   *
   * @param text an id, the beginning of one, or a label, exactly as it is written
   * @returns one session if the text is clear, several if it is ambiguous, none if there is no such session
   * @throws StelloError STORE_UNAVAILABLE
   * @example const [session, ...others] = await stello.find('last week')
   */
  find(text: string): Promise<SessionSummary[]>
  /**
   * Roots of trees, newest first, each with the totals of its tree.
   *
   * @throws StelloError INVALID_ARGUMENT naming the field; STORE_UNAVAILABLE
   * @example
   * const page = await stello.roots({ limit: 50 })
   * const next = await stello.roots({ limit: 50, before: page.at(-1)?.createdAt })
   */
  roots(filter?: RootFilter): Promise<RootSummary[]>
  /**
   * The records that hold words, newest first: everywhere, or in the conversation of one session. Rewound records are not
   * found. Capitals do not matter; `"two words"` follow each other; `or` and `-word` mean what they do on the web. A text
   * without a word finds nothing.
   *
   * @param text at most 1,000 characters
   * @throws StelloError INVALID_ARGUMENT naming what is wrong; SESSION_NOT_FOUND, STORE_UNAVAILABLE
   * @example for (const { sessionId, seq } of await stello.search('"annual report" -draft')) console.log(sessionId, seq)
   */
  search(text: string, options?: SearchOptions): Promise<SearchHit[]>
  /**
   * Questions and pauses that wait for a person, oldest first: everywhere, or in a session and everything below it.
   *
   * @throws StelloError SESSION_NOT_FOUND, STORE_UNAVAILABLE
   * @example for (const { sessionId, message } of await stello.inbox()) console.log(sessionId, message)
   */
  inbox(sessionId?: string): Promise<InboxItem[]>
  /**
   * The rules that people have added with answers (`remember`), oldest first.
   *
   * @throws StelloError STORE_UNAVAILABLE
   * @example for (const { scope, owner, rule } of await stello.permissions()) console.log(scope, owner, rule)
   */
  permissions(): Promise<KeptRule[]>
  /**
   * Removes a rule that people have added. Calls that it covered are asked about again.
   *
   * @throws StelloError INVALID_ARGUMENT when there is no such rule; STORE_UNAVAILABLE
   * @example await stello.removePermission({ scope: 'agent', owner: 'coder', rule: 'Bash(npm test)' })
   */
  removePermission(rule: Pick<KeptRule, 'scope' | 'owner' | 'rule'>): Promise<void>
  /**
   * Names of all agents that a worker has ever served.
   *
   * @throws StelloError STORE_UNAVAILABLE
   * @example const agents = await stello.agents()
   */
  agents(): Promise<string[]>
  /**
   * The names of each agent's fork profiles, by the name of the agent, as its workers have told.
   *
   * @throws StelloError STORE_UNAVAILABLE
   * @example const { changes = [] } = await stello.profiles()
   */
  profiles(): Promise<Record<string, string[]>>
  /**
   * Names of the agents that living workers serve now. A session of any other agent waits until a worker serves it.
   *
   * @throws StelloError STORE_UNAVAILABLE
   * @example if (!(await stello.servedAgents()).includes('changes')) console.log('start a worker')
   */
  servedAgents(): Promise<string[]>
  /**
   * Link to a session's workflow in the Temporal UI, or to the list of workflows. Undefined when its address is unknown.
   *
   * @example console.log(stello.uiLink(session.id))
   */
  uiLink(sessionId?: string): string | undefined
  /** The connection to Temporal, for everything that this client has no method for. */
  readonly temporal: Client
  /**
   * Closes the connections to Temporal and to the store. Sessions go on.
   *
   * @example await stello.close()
   */
  close(): Promise<void>
}

export function createStelloClient(deps: ClientDeps): StelloClient {
  const { client, db, listener } = deps
  return {
    temporal: client,
    session: (sessionId) => createSessionHandle(deps, sessionId),
    list: (filter) => listSessions(db, filter),
    async find(text) {
      const ids = await findSessions(db, text)
      return ids.length === 0 ? [] : listSessions(db, { ids })
    },
    async search(text, options) {
      const checked = checkSearch(text, options)
      if (checked.sessionId !== undefined) await mustExist(db, checked.sessionId)
      return searchRecords(db, text, checked)
    },
    roots: async (filter) => listRoots(db, checkRoots(filter)),
    async inbox(sessionId) {
      if (sessionId === undefined) return readInbox(db)
      await mustExist(db, sessionId)
      return readInbox(db, await readSubtree(db, sessionId))
    },
    permissions: () => listKeptRules(db),
    async removePermission(rule) {
      if (await forgetRule(db, rule)) return
      throw new StelloError('INVALID_ARGUMENT', `there is no rule ${rule.rule} of ${rule.scope} "${rule.owner}"`, {
        hint: '`stello permissions` shows all of them',
      })
    },
    servedAgents: () => readServedAgents(db, deps.namespace),
    agents: async () => (await readAgents(db)).map((agent) => agent.name),
    profiles: async () =>
      Object.fromEntries((await readAgents(db)).map(({ name, manifest }) => [name, manifest.profiles])),
    uiLink: (sessionId) =>
      deps.uiUrl &&
      `${deps.uiUrl}/namespaces/${deps.namespace}/workflows${sessionId === undefined ? '' : `/${sessionId}`}`,
    async createSession(given) {
      const { sessionId: stated, bounds = {}, ...options } = checkCreateSession(given)
      const config = toConfig(options)
      const sessionId = stated ?? newSessionId(config.label, config.agent)
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
