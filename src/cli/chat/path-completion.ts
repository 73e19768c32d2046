/** The files that a path behind an `@` may become. */
import { readdir } from 'node:fs/promises'
import { basename, resolve } from 'node:path'

/**
 * The paths in order; folders end with `/`. Empty if nothing can be read. Names that begin with a dot are left out unless the
 * dot is typed.
 *
 * @param folder paths are relative to it
 * @example await pathsFrom('src/ma', '.') // ['src/main.ts', 'src/maps/']
 */
export async function pathsFrom(path: string, folder: string): Promise<string[]> {
  const begin = path.endsWith('/') ? '' : basename(path)
  const inside = path.slice(0, path.length - begin.length)
  const entries = await readdir(resolve(folder, inside), { withFileTypes: true }).catch(() => [])
  return entries
    .filter(({ name }) => name.startsWith(begin) && (begin !== '' || !name.startsWith('.')))
    .map((entry) => `${inside}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .toSorted()
}

/** @example commonBegin(['src/main.ts', 'src/maps/']) // 'src/ma' */
export function commonBegin(paths: readonly string[]): string {
  const [first = '', ...others] = paths
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1
  return first.slice(0, length)
}
