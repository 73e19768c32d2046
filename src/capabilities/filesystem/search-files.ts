/** What Glob looks for, in a thread: patterns, names and rules are a model's or a repository's, and may take for ever to match. */
import { lstat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { glob } from 'tinyglobby'
import { ignoredBy, ignoreFilesAbove } from './ignored.ts'

export interface FileSearch {
  /** Of the folder, and the directory in it to search, without links. */
  root: string
  cwd: string
  pattern: string
  directories: boolean
  caseSensitive: boolean
  /** At most so many names. */
  limit: number
}

export interface FoundFiles {
  /** From the root, with slashes, the ones changed last first. */
  names: string[]
  /** How many were found beyond them. */
  more: number
}

const NEVER = ['**/.git/**', '**/node_modules/**', '**/.stello-*.tmp']
/** Files looked at side by side. */
const BATCH = 200

/** Called by `thread.ts`. */
export async function run({ root, cwd, pattern, directories, caseSensitive, limit }: FileSearch): Promise<FoundFiles> {
  const options = { cwd, dot: true, ignore: NEVER, followSymbolicLinks: false, expandDirectories: false }
  const ignoreFiles = await glob('**/.gitignore', options)
  const paths = await glob(pattern, {
    ...options,
    // Nested quantifiers take longest.
    extglob: false,
    onlyFiles: !directories,
    caseSensitiveMatch: caseSensitive,
  })
  const hidden = await ignoredBy([...ignoreFilesAbove(cwd, root), ...ignoreFiles.map((file) => join(cwd, file))])
  const found = paths.map((path) => join(cwd, path)).filter((path) => path.startsWith(cwd) && !hidden(path))
  const shown = (await newestFirst(found)).slice(0, limit)
  return { names: shown.map((path) => relative(root, path).split(sep).join('/')), more: found.length - shown.length }
}

async function newestFirst(paths: readonly string[]): Promise<string[]> {
  const dated: { path: string; changed: number }[] = []
  for (let at = 0; at < paths.length; at += BATCH) {
    const batch = paths.slice(at, at + BATCH).map(async (path) => ({ path, changed: await changedAt(path) }))
    dated.push(...(await Promise.all(batch)))
  }
  return dated.toSorted((a, b) => b.changed - a.changed || (a.path < b.path ? -1 : 1)).map(({ path }) => path)
}

/** One that is gone by now comes last. */
async function changedAt(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined)
  return stats?.mtimeMs ?? 0
}
