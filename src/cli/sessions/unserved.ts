/** Reports that no worker serves an agent. It refuses nothing: the request is kept until a worker serves the agent. */
import { setTimeout as delay } from 'node:timers/promises'
import { isUnavailable, messageOf } from '../../core/errors.ts'
import type { SessionHandle } from '../../client/index.ts'
import { notServed } from '../../client/not-served.ts'
import type { Context } from '../commands/command-context.ts'

const LOOK_EVERY_MS = 1000

/** Reports each of these agents that no worker serves now, and names the agents that are served. */
export async function noteUnserved({ stello, out }: Context, ...agents: string[]): Promise<void> {
  const served = await whileReachable(() => stello.servedAgents(), agents)
  const unserved = [...new Set(agents)].filter((agent) => !served.includes(agent))
  if (unserved.length === 0) return
  const known = await whileReachable(() => stello.agents(), unserved)
  for (const agent of unserved) {
    const why = known.includes(agent) ? '' : ' (none ever has: is the name right?)'
    out.note(`${notServed(agent, served)}${why}\n  its sessions wait for one: \`stello worker FILE\` starts it`)
  }
}

export async function noteUnservedOf(context: Context, session: SessionHandle): Promise<void> {
  const agent = await agentOf(session)
  if (agent !== undefined) await noteUnserved(context, agent)
}

/**
 * Tells a waiting person when no worker serves the agent, and when one serves it again. Never fails: these are only
 * remarks.
 */
export async function keepNotingUnserved(context: Context, session: SessionHandle, signal: AbortSignal): Promise<void> {
  const { stello, out } = context
  let agent: string | undefined
  let before = true
  try {
    for (;;) {
      agent ??= await agentOf(session)
      if (agent !== undefined) {
        const now = (await whileReachable(() => stello.servedAgents(), before ? [agent] : [])).includes(agent)
        if (before && !now) await noteUnserved(context, agent)
        if (!before && now) out.note(`a worker serves agent "${agent}" now`)
        before = now
      }
      await delay(LOOK_EVERY_MS, undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) out.note(`whether a worker serves the agent cannot be shown: ${messageOf(error)}`)
  }
}

async function agentOf(session: SessionHandle): Promise<string | undefined> {
  return whileReachable(async () => (await session.state()).agent, undefined)
}

/** None while the store is away: a remark is no reason to fail. */
async function whileReachable<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (isUnavailable(error)) return otherwise
    throw error
  }
}
