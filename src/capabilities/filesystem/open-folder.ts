/**
 * Holds a folder open while something is done in it. If another program replaces this folder, or one above it, the work
 * is still done in this one. This needs Linux, where `/proc` names the open files of a process. Elsewhere, and without
 * `/proc`, a path leads where it leads at that moment.
 */
import { constants, existsSync } from 'node:fs'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { Place } from './locate.ts'
import { codeOf } from './refusal.ts'

const OPENED = '/proc/self/fd'
const holds = process.platform === 'linux' && existsSync(OPENED)
/** Opens a folder without the right to list it. Node has no name for this flag of Linux. */
const O_PATH = 0o10000000
const THROUGH = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

export interface FolderOptions {
  /** Creates the missing part of the path. */
  make?: boolean
}

/** Works on a place, by a path that stays in the folder where the place was found. */
export async function atFile<Result>(
  { root, path }: Pick<Place, 'root' | 'path'>,
  work: (path: string) => Promise<Result>,
  options?: FolderOptions,
): Promise<Result> {
  if (path === root) return work(path)
  return inFolder({ root, path: dirname(path) }, (folder) => work(join(folder, basename(path))), options)
}

/** Works in a folder, by its path. */
export async function inFolder<Result>(
  { root, path }: Pick<Place, 'root' | 'path'>,
  work: (folder: string) => Promise<Result>,
  { make = false }: FolderOptions = {},
): Promise<Result> {
  if (!holds) {
    if (make) await mkdir(path, { recursive: true })
    return work(path)
  }
  let folder = await open(root, THROUGH)
  try {
    for (const part of relative(root, path).split(sep).filter(Boolean)) {
      const above = folder
      folder = await openIn(above, part, make)
      await above.close()
    }
    return await work(pathOf(folder))
  } finally {
    await folder.close()
  }
}

async function openIn(folder: FileHandle, part: string, make: boolean): Promise<FileHandle> {
  const path = join(pathOf(folder), part)
  try {
    return await open(path, THROUGH)
  } catch (error) {
    if (!make || codeOf(error) !== 'ENOENT') throw error
  }
  await mkdir(path).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  return open(path, THROUGH)
}

function pathOf({ fd }: FileHandle): string {
  return join(OPENED, String(fd))
}
