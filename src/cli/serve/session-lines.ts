/** One line for each thing that happens in the sessions of some agents, as long as somebody looks. */
import { setTimeout as delay } from 'node:timers/promises'
import type { StelloClient, StelloEvent } from '../../client/index.ts'

/** How often it looks for new roots. */
const LOOK_EVERY_MS = 1000
/** The newest roots that are watched. */
const ROOTS = 100

/** Never rejects. Existing roots are watched from now on, later ones from their beginning. */
export async function watchAgents(
  stello: StelloClient,
  agents: () => readonly string[],
  { print, signal }: { print: (event: StelloEvent) => void; signal: AbortSignal },
): Promise<void> {
  const watched = new Set<string>()
  const watching: Promise<void>[] = []
  const follow = async (id: string, from: 'now' | 0): Promise<void> => {
    for await (const event of stello.session(id).watch({ from, tree: true, live: false, signal })) print(event)
  }
  for (let first = true; !signal.aborted; first = false) {
    const sessions = await stello.list({ limit: ROOTS }).catch(() => [])
    for (const { id, parentId, agent } of sessions) {
      if (parentId !== undefined || watched.has(id) || !agents().includes(agent)) continue
      watched.add(id)
      watching.push(follow(id, first ? 'now' : 0).catch(() => void watched.delete(id)))
    }
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
  await Promise.all(watching)
}
