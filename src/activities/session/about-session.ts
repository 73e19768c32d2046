/**
 * The only place that decides which facts of a session user code gets: tools, factories, folders and hooks get the same.
 */
import type { SessionContext, SessionFacts } from '../../tool/tool.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import type { StoredSession } from './session-configs.ts'

/** The facts that a tool gets before there is a call, without the signal. */
export type AboutSession = Omit<SessionContext, 'signal'>

type Standing = Omit<StoredSession, 'config'> & { config: Pick<SessionConfig, 'userId' | 'profile'> }

export function sessionFacts(sessionId: string, { rootId, parentId, depth, config }: Standing): SessionFacts {
  const { userId, profile } = config
  return {
    sessionId,
    rootId,
    depth,
    ...(parentId !== undefined && { parentId }),
    ...(userId !== undefined && { userId }),
    ...(profile !== undefined && { profile }),
  }
}

export function aboutSession(sessionId: string, stored: StoredSession): AboutSession {
  const { permissionMode } = stored.config
  return { ...sessionFacts(sessionId, stored), ...(permissionMode !== undefined && { permissionMode }) }
}

/** The session of a context. */
export function sessionFactsOf({ sessionId, rootId, parentId, depth, ...config }: SessionFacts): SessionFacts {
  return sessionFacts(sessionId, { rootId, depth, config, ...(parentId !== undefined && { parentId }) })
}

/** The part of a call's context that belongs to its session. */
export function sessionOf(ctx: AboutSession): AboutSession {
  const { permissionMode } = ctx
  return { ...sessionFactsOf(ctx), ...(permissionMode !== undefined && { permissionMode }) }
}
