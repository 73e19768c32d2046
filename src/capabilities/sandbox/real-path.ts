/** Resolves all links of a path. The result holds for the links as they are now. */
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'

/**
 * The path without links. The missing part of a path has none; the existing part above it may have some.
 *
 * @param target absolute
 * @returns undefined when it leads over a link to something that does not exist
 * @throws what `realpath` and `lstat` throw, except for ENOENT
 */
export async function realPathOf(target: string): Promise<string | undefined> {
  const missing: string[] = []
  for (let at = target; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing.toReversed())
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    if (await isThere(at)) return undefined
    missing.push(basename(at))
  }
}

/** @param folder and `path` without links */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT'
}
