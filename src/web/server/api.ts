/** The routes of the server, typed. Every failure is an `ApiFailure`. Must keep no state besides the token. */
import type {
  AnswerOptions,
  CreateSessionOptions,
  ForkOptions,
  Reached,
  SessionStats,
  SessionStatus,
  TurnResult,
} from '../../client/index.ts'
import { readFailure, toFailure } from './api-failure.ts'
import { reportLocked, reportServer, reportStore } from './link-state.ts'
import { tokenHeaders } from './token.ts'
import type {
  About,
  Agent,
  Json,
  RecordsPage,
  Root,
  Rule,
  SearchHit,
  Session,
  TimelineSpan,
  Tree,
  Waiting,
} from './wire.ts'

/** Which roots; newest first. `before`: the `createdAt` of the last one that was seen. */
export interface RootsFilter {
  state?: SessionStatus
  agent?: string
  limit?: number
  before?: string
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** @example apiPath('roots', { limit: 10 }) // 'api/roots?limit=10' */
export function apiPath(path: string, query: Query = {}): string {
  const stated = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]))
  return `api/${path}${stated.length === 0 ? '' : `?${new URLSearchParams(stated).toString()}`}`
}

/** The one place where a request is made. @throws ApiFailure */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...tokenHeaders(), ...(init.headers as Record<string, string> | undefined) }
  const response = await fetch(path, { ...init, headers }).catch((thrown: unknown) => {
    if (!init.signal?.aborted) reportServer(false)
    throw toFailure(thrown)
  })
  reportServer(true)
  reportLocked(response.status === 401)
  if (response.ok) return response
  const failure = await readFailure(response)
  if (failure.code === 'STORE_UNAVAILABLE') reportStore(false)
  throw failure
}

async function get<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
  const response = await request(apiPath(path, query), signal ? { signal } : {})
  reportStore(true)
  return (await response.json()) as Answer
}

async function send<Answer = unknown>(method: 'POST' | 'DELETE', path: string, body: object = {}): Promise<Answer> {
  const response = await request(apiPath(path), {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  reportStore(true)
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

const of = (sessionId: string, what = ''): string => `sessions/${encodeURIComponent(sessionId)}${what}`

/** The routes. @example const roots = await api.roots({ state: 'waiting' }) */
export const api = {
  about: (): Promise<About> => get('about'),
  agents: (): Promise<Agent[]> => get('agents'),
  roots: (filter: RootsFilter = {}, signal?: AbortSignal): Promise<Root[]> => get('roots', { ...filter }, signal),
  createSession: (options: CreateSessionOptions & { message?: string }): Promise<{ id: string; messageId?: string }> =>
    send('POST', 'sessions', options),
  session: (id: string): Promise<Session> => get(of(id)),
  tree: (id: string): Promise<Tree> => get(of(id, '/tree')),
  records: (id: string, page: { from?: number; limit?: number } = {}): Promise<RecordsPage> =>
    get(of(id, '/records'), page),
  stats: (id: string): Promise<SessionStats> => get(of(id, '/stats')),
  timeline: (id: string): Promise<TimelineSpan[]> => get(of(id, '/timeline')),
  sendMessage: (id: string, text: string, messageId?: string): Promise<{ messageId: string }> =>
    send('POST', of(id, '/messages'), { text, ...(messageId !== undefined && { messageId }) }),
  turn: (id: string, messageId: string, wait?: number): Promise<TurnResult | { state: string; heldBy: Waiting[] }> =>
    get(of(id, `/turns/${encodeURIComponent(messageId)}`), { wait }),
  pause: (id: string, options: { tree?: boolean; reason?: string } = {}): Promise<Reached> =>
    send('POST', of(id, '/pause'), options),
  resume: (id: string, options: { tree?: boolean } = {}): Promise<Reached> => send('POST', of(id, '/resume'), options),
  cancel: (id: string, options: { tree?: boolean } = {}): Promise<Reached> => send('POST', of(id, '/cancel'), options),
  close: (id: string, options: { cascade?: boolean } = {}): Promise<unknown> => send('POST', of(id, '/close'), options),
  compact: (id: string): Promise<unknown> => send('POST', of(id, '/compact')),
  recover: (id: string, options: { restart?: boolean } = {}): Promise<unknown> =>
    send('POST', of(id, '/recover'), options),
  fork: (id: string, options: ForkOptions): Promise<{ id: string }> => send('POST', of(id, '/forks'), options),
  inbox: (sessionId?: string): Promise<Waiting[]> => get('inbox', { session: sessionId }),
  answer: (sessionId: string, itemId: string, answer: AnswerOptions): Promise<unknown> =>
    send('POST', of(sessionId, `/answers/${encodeURIComponent(itemId)}`), answer),
  permissions: (): Promise<Rule[]> => get('permissions'),
  removePermission: ({ scope, owner, rule }: Json<Pick<Rule, 'scope' | 'owner' | 'rule'>>): Promise<unknown> =>
    send('DELETE', 'permissions', { scope, owner, rule }),
  search: (q: string, options: { session?: string; limit?: number } = {}): Promise<SearchHit[]> =>
    get('search', { q, ...options }),
}
