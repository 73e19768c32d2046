/** What `.gitignore` files hide, from the root down. The nearest file with a rule for a path decides. */
import { dirname, join, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { withFile } from './open-file.ts'

const SIZE_LIMIT = 1024 * 1024

/** @param files paths of `.gitignore` files below the root; an unreadable one hides nothing */
export async function ignoredBy(root: string, files: readonly string[]): Promise<(path: string) => boolean> {
  const rules = new Map<string, Ignore>()
  for (const path of files) {
    const text = await withFile({ root, path, name: path }, async (file, size) =>
      size > SIZE_LIMIT ? '' : file.readFile('utf8'),
    ).catch(() => '')
    if (text) rules.set(dirname(path), ignore().add(text))
  }
  return (path) => {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const found = rules.get(folder)?.test(relative(folder, path).split(sep).join('/'))
      if (found?.ignored || found?.unignored) return found.ignored
      if (folder === dirname(folder)) return false
    }
  }
}

/** The files that count for a folder: its own, and those up to the root. */
export function ignoreFilesAbove(folder: string, root: string): string[] {
  const found = [join(folder, '.gitignore')]
  for (let at = folder; at !== root; at = dirname(at)) found.push(join(dirname(at), '.gitignore'))
  return found
}
