/** Replaces a file in one step: a reader, also after a crash, finds the whole old file or the whole new one. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Place } from './locate.ts'
import { atFile } from './open-folder.ts'
import { Refusal } from './refusal.ts'
import { readBytes } from './text-file.ts'
import { versionOf } from './versions.ts'

export interface Replacement {
  bytes: Buffer
  /** The version that is replaced; `undefined` when there is no file yet. */
  before: string | undefined
  /** The key of the call: a repetition removes what the first try left behind. */
  idempotencyKey: string
}

/** @throws Refusal when somebody else changed the file meanwhile */
export function replaceFile(place: Place, replacement: Replacement): Promise<void> {
  return atFile(place, (path) => replaceAt(path, place, replacement), { make: true })
}

/** @param path of the place, in a folder that is kept open */
async function replaceAt(path: string, place: Place, { bytes, before, idempotencyKey }: Replacement): Promise<void> {
  const folder = dirname(path)
  const mode = before === undefined ? undefined : await modeOf(path)
  const temporary = join(
    folder,
    `.stello-${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 16)}.tmp`,
  )
  await rm(temporary, { force: true })
  try {
    await writeSynced(temporary, bytes, mode)
    const current = await readBytes(place)
    if ((current && versionOf(current)) !== before)
      throw new Refusal(`${place.name} was changed meanwhile. Read it again.`)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(folder)
}

/** rename() ignores the file's own permissions, so they are checked first. */
async function modeOf(path: string): Promise<number> {
  await access(path, constants.W_OK)
  return (await lstat(path)).mode & 0o7777
}

async function writeSynced(path: string, bytes: Buffer, mode: number | undefined): Promise<void> {
  // Exclusive: it follows no link, and never writes into an existing file.
  const file = await open(path, 'wx', 0o666)
  try {
    await file.writeFile(bytes)
    if (mode !== undefined) await file.chmod(mode)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
