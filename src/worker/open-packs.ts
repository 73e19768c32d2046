/** The packs of an agent, opened with its worker and closed with it. */
import { nameOfPack, type CapabilityPack } from '../agent/capability-pack.ts'
import { bounded } from '../activities/step/bounded.ts'
import { StelloError, messageOf } from '../core/errors.ts'
import type { OpenedParts } from './opened-parts.ts'

const OPEN_MS = 60_000
const CLOSE_MS = 10_000

/**
 * Opens each pack once, one after the other, because a pack may need those before it.
 *
 * @param closing closes the opened packs, the last one first. A pack that does not close in time is left open
 * @throws StelloError TOOLS_UNAVAILABLE naming the pack that cannot be opened
 */
export async function openPacks(
  packs: readonly CapabilityPack[],
  closing: Pick<OpenedParts, 'add'>,
  { openMs = OPEN_MS, closeMs = CLOSE_MS }: { openMs?: number; closeMs?: number } = {},
): Promise<void> {
  for (const pack of new Set(packs)) {
    const name = nameOfPack(pack)
    try {
      await within(openMs, () => pack.open?.())
    } catch (error) {
      throw new StelloError('TOOLS_UNAVAILABLE', `pack "${name}" cannot be opened: ${messageOf(error)}`, {
        hint: 'the worker starts when what the pack needs is there',
        cause: error,
      })
    }
    closing.add(pack, () =>
      within(closeMs, () => pack.close?.()).catch((error: unknown) => {
        throw new Error(`pack "${name}" was not closed: ${messageOf(error)}`)
      }),
    )
  }
}

function within(timeoutMs: number, work: () => void | Promise<void>): Promise<void> {
  const never = new AbortController().signal
  const late = (): Error => new Error(`it did not end within ${timeoutMs / 1000} s`)
  return bounded({ timeoutMs, stop: never, timedOut: late, stopped: late }, work)
}
