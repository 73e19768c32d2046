/** Looks at the surroundings of a chat's session: its tree, the items that wait in it, its workers. Never rejects. */
import { setTimeout as delay } from 'node:timers/promises'
import type { StelloClient } from '../../client/index.ts'
import { isMoving, lookAgainMs } from '../output/look-pace.ts'
import type { Chat } from './create-chat.ts'

export interface LookingAround {
  /** Something has changed. */
  now(): void
  /** The store is away; the first look that succeeds tells that it is back. */
  away(): void
}

/** Until the signal fires. */
export function lookAround(stello: StelloClient, chat: Chat, signal: AbortSignal): LookingAround {
  const { sessionId } = chat.state
  let wake = new AbortController()
  let isAway = false
  /** @returns whether something in the tree changes by itself */
  const look = async (): Promise<boolean> => {
    const [tree, inbox, served] = await Promise.all([
      stello.session(sessionId).tree(),
      stello.inbox(sessionId),
      stello.servedAgents(),
    ])
    if (signal.aborted) return false
    chat.seen({ tree, inbox, unserved: !served.includes(tree.agent) })
    if (isAway) chat.note('the store is back')
    isAway = false
    return isMoving(tree)
  }
  const keep = async (): Promise<void> => {
    while (!signal.aborted) {
      wake = new AbortController()
      const begun = performance.now()
      // The watch tells that the store is away. How long that has taken says nothing.
      const moving = await look().catch(() => undefined)
      const ended = performance.now()
      const tookMs = moving === undefined ? 0 : ended - begun
      await wait(lookAgainMs(tookMs, moving === false ? 'still' : 'moving'), AbortSignal.any([signal, wake.signal]))
      await wait(lookAgainMs(tookMs, 'news') - (performance.now() - ended), signal)
    }
  }
  void keep()
  return { now: () => wake.abort(), away: () => (isAway = true) }
}

async function wait(ms: number, until: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal: until }).catch(() => undefined)
}
