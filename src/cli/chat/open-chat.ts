/** Opens the session of a chat: a new one of an agent, or an existing one. */
import { StelloError } from '../../core/errors.ts'
import type { StelloClient } from '../../client/index.ts'
import { findSession } from '../sessions/find-session.ts'
import { canAsk } from '../sessions/pick-session.ts'
import { printable } from '../output/printable.ts'

export interface Opened {
  sessionId: string
  /** It was created for this chat. */
  isNew: boolean
}

/**
 * @param named an agent, or what `findSession` takes; unset: an agent that is served
 * @param choice.last the newest session
 * @param choice.pick a person chooses one of the latest sessions
 * @throws StelloError INVALID_ARGUMENT when nothing is served and nothing named, or nothing is chosen; what `findSession` throws
 */
export async function openChat(
  stello: StelloClient,
  named: string | undefined,
  { last = false, pick = false }: { last?: boolean; pick?: boolean } = {},
): Promise<Opened> {
  if (last || pick) return { sessionId: (await findSession(stello, undefined, { last })).id, isNew: false }
  if (named === undefined) return begin(stello, await chooseAgent(await stello.servedAgents()))
  const agents = [...(await stello.servedAgents()), ...(await stello.agents())]
  if (agents.includes(named)) return begin(stello, named)
  return { sessionId: (await findSession(stello, named)).id, isNew: false }
}

async function begin(stello: StelloClient, agent: string): Promise<Opened> {
  return { sessionId: (await stello.createSession({ agent })).id, isNew: true }
}

async function chooseAgent(served: readonly string[]): Promise<string> {
  const [only] = served
  if (only === undefined) {
    throw new StelloError('AGENT_NOT_SERVED', 'no agent is served, so there is nobody to talk to', {
      hint: '`stello dev` serves agent.ts; `stello chat SESSION` and `stello chat --last` show a session that is there',
    })
  }
  if (served.length === 1) return only
  if (!canAsk()) {
    throw new StelloError('INVALID_ARGUMENT', `several agents are served: ${served.join(', ')}`, {
      hint: 'name one of them',
    })
  }
  const { isCancel, select } = await import('@clack/prompts')
  const options = served.map((agent) => ({ value: agent, label: printable(agent) }))
  const agent = await select({ message: 'Which agent?', options })
  if (isCancel(agent)) throw new StelloError('INVALID_ARGUMENT', 'no agent was chosen')
  return agent
}
