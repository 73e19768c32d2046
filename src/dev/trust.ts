/**
 * Checks who owns something. The development servers have no real sign-in, so their folder, files and processes must
 * belong to the user, and addresses from a file must be of this machine.
 */
import { lstat, stat } from 'node:fs/promises'
import { StelloError } from '../core/errors.ts'

/** Bits of a mode: others, or the group, may write. */
const WRITABLE_BY_OTHERS = 0o022

/** Our user id; undefined when the system has no such ids. */
export function ownUid(): number | undefined {
  return process.getuid?.()
}

/**
 * @param path of an existing folder, as it was given: a link is checked too
 * @throws StelloError INVALID_ARGUMENT unless the folder, and a link to it, belongs to us and nobody else can write in
 *   it
 */
export async function demandOwnFolder(path: string): Promise<void> {
  const [named, folder] = [await lstat(path), await stat(path)]
  const stranger = [named, folder].find(({ uid }) => ownUid() !== undefined && uid !== ownUid())
  if (stranger) {
    throw new StelloError('INVALID_ARGUMENT', `${path} belongs to the user with id ${stranger.uid}, not to you`, {
      hint: `its owner could put servers of his own in place of yours: name another by STELLO_HOME, or make it yours, ${ownUid() === 0 ? `chown root ${path} && chmod 711 ${path}` : 'by chown'}`,
    })
  }
  if (ownUid() !== undefined && (folder.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new StelloError('INVALID_ARGUMENT', `others may write in ${path}`, { hint: `chmod go-w ${path}` })
  }
}

/** Whether anybody but the user could have written this. */
export function isForeign({ uid, mode }: { uid: number; mode: number }): boolean {
  return ownUid() !== undefined && (uid !== ownUid() || (mode & WRITABLE_BY_OTHERS) !== 0)
}
