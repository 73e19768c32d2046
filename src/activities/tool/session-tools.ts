/**
 * The tools of a session as they are now: the tools that the agent lists, and those that its packs give when they are
 * asked. If a pack cannot be asked, nobody must assume that it has no tools: a model that sees fewer tools would answer
 * as if there were no more. So a model call is tried again and then pauses the session. A call of a tool that perhaps
 * belongs to the pack is answered with the reason.
 */
import type { StelloAgent } from '../../agent/agent.ts'
import { nameOfPack, readAsked, type CapabilityPack, type PackContext } from '../../agent/capability-pack.ts'
import { sessionTools, type SessionTools } from '../../agent/tool-list.ts'
import { StelloError, isStelloError, messageOf } from '../../core/errors.ts'
import type { Tool } from '../../tool/tool.ts'
import type { StoredSession } from '../session/session-configs.ts'
import { aboutSession } from '../session/about-session.ts'
import { bounded } from '../step/bounded.ts'
import { rulesToAsk } from './session-permissions.ts'
import { shutsDown } from '../step/temporal-failures.ts'

const ASKED_MS = 5000

export interface Asking {
  agent: StelloAgent
  sessionId: string
  session: StoredSession
  stop: AbortSignal
}

/** @throws StelloError TOOLS_UNAVAILABLE when a pack does not say which tools it has */
export async function askedTools({ agent, sessionId, session, stop }: Asking): Promise<SessionTools> {
  const { config } = session
  // A profile has exactly the tools that it lists.
  const packs = config.tools === 'agent' ? agent.packs.filter(({ tools }) => typeof tools === 'function') : []
  if (packs.length === 0) return sessionTools(agent, config)
  const context = { ...aboutSession(sessionId, session), ...rulesToAsk(agent, config) }
  const given = await Promise.all(packs.map((pack) => ask(pack, (signal) => ({ ...context, signal }), stop)))
  const tools = new Map<string, Tool>()
  for (const [index, pack] of packs.entries()) attempt(pack, () => readAsked(pack, given[index], tools))
  return sessionTools(agent, config, [...tools.values()])
}

/** The tools for one call. Packs are asked only if the agent does not list its tool. */
export async function toolsForCall(asking: Asking, called: string): Promise<SessionTools> {
  const listed = sessionTools(asking.agent, asking.session.config)
  if (listed.find(called)) return listed
  try {
    return await askedTools(asking)
  } catch (error) {
    if (asking.stop.aborted) throw error
    return { ...listed, unknown: messageOf(error) }
  }
}

async function ask(
  pack: CapabilityPack,
  context: (signal: AbortSignal) => PackContext,
  stop: AbortSignal,
): Promise<unknown> {
  const { tools } = pack
  if (typeof tools !== 'function') return []
  const bounds = {
    timeoutMs: ASKED_MS,
    stop,
    timedOut: () => unavailable(pack, `it did not answer within ${ASKED_MS / 1000} s`),
    stopped: () => shutsDown(),
  }
  try {
    return await bounded(bounds, (signal) => tools(context(signal)))
  } catch (error) {
    if (stop.aborted) throw error
    throw isStelloError(error) && error.code === 'TOOLS_UNAVAILABLE' ? error : unavailable(pack, error)
  }
}

function attempt(pack: CapabilityPack, read: () => void): void {
  try {
    read()
  } catch (error) {
    throw unavailable(pack, error)
  }
}

function unavailable(pack: CapabilityPack, why: unknown): StelloError {
  const what = typeof why === 'string' ? why : messageOf(why)
  return new StelloError('TOOLS_UNAVAILABLE', `the tools of pack "${nameOfPack(pack)}" are not known now: ${what}`, {
    hint: 'see that what the pack asks is there again, then resume the session',
    cause: why,
  })
}
