/** Looks again and again until something is there, for things that send no notice. */
import { setTimeout } from 'node:timers/promises'

const LOOK_EVERY_MS = 20
/** No test waits this long. If one does, its error names what it waited for, and not only a time-out. */
const GIVE_UP_MS = 120_000

export async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const begun = Date.now(); Date.now() - begun < GIVE_UP_MS;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await setTimeout(LOOK_EVERY_MS)
  }
  throw new Error(`waited in vain: ${what}`)
}
