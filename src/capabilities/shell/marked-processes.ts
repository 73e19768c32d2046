/**
 * Finds the processes of a command by a mark in their environment, which daemons inherit too. This needs Linux. Elsewhere
 * a daemon that leaves its process group stays.
 */
import { readdir, readFile } from 'node:fs/promises'

/** The variable. */
export const MARK = 'STELLO_COMMAND'

/** Ends what a command has left behind. */
export async function endMarked(id: string): Promise<void> {
  if (process.platform !== 'linux') return
  for (const name of await readdir('/proc').catch(() => [])) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid || !(await isMarked(pid, id))) continue
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}

async function isMarked(pid: number, id: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
  return `\0${environment}`.includes(`\0${MARK}=${id}\0`)
}
