/** Ends what runs for a folder: the launcher that holds its servers, and the servers. */
import { setTimeout as delay } from 'node:timers/promises'
import { loadDevInfo, resolveHome } from './dev-info.ts'
import { stopDevServers } from './dev-servers.ts'
import { isAlive } from './processes.ts'

/** How long the launcher may take: its worker finishes what runs. */
const GRACE_MS = 60_000
const LOOK_EVERY_MS = 100

/**
 * Asks the launcher to stop in order, and stops servers that nobody holds.
 *
 * @returns false when nothing ran
 * @throws StelloError INVALID_ARGUMENT when the folder is not the user's alone
 */
export async function stopHolder(home?: string): Promise<boolean> {
  const info = await loadDevInfo(await resolveHome(home))
  const holder = info?.holder && isAlive(info.holder) ? info.holder : undefined
  const servers = [info?.temporal.process, info?.postgres.process]
  const ran = holder !== undefined || servers.some((server) => server && isAlive(server))
  if (holder) {
    process.kill(holder.pid, 'SIGTERM')
    for (let waited = 0; waited < GRACE_MS && isAlive(holder); waited += LOOK_EVERY_MS) await delay(LOOK_EVERY_MS)
  }
  await stopDevServers(home)
  return ran
}
