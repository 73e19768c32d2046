/** What Glob looks for, in a thread: patterns, names and rules are a model's or a repository's, and may take for ever to match. */
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { glob } from 'tinyglobby'
import { ignoredBy, ignoreFilesAbove } from './ignored.ts'
import { protectedBy } from './protected.ts'

export interface FileSearch {
  /** Of the folder, and the directory in it to search, without links. */
  root: string
  cwd: string
  pattern: string
  directories: boolean
  caseSensitive: boolean
  /** Patterns of names that are not told. */
  protect: readonly string[] | undefined
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
export async function run(search: FileSearch): Promise<FoundFiles> {
  const { root, cwd, pattern, directories, caseSensitive, limit } = search
  const options = { cwd, dot: true, ignore: NEVER, followSymbolicLinks: false, expandDirectories: false }
  const ignoreFiles = await glob('**/.gitignore', options)
  const paths = await glob(pattern, {
    ...options,
    // Nested quantifiers take longest.
    extglob: false,
    onlyFiles: !directories,
    caseSensitiveMatch: caseSensitive,
  })
  const ignored = await ignoredBy(root, [...ignoreFilesAbove(cwd, root), ...ignoreFiles.map((file) => join(cwd, file))])
  const isProtected = protectedBy(search.protect)
  const nameOf = (path: string): string => relative(root, path).split(sep).join('/')
  const inside = paths
    .map((path) => join(cwd, path))
    .filter((path) => path.startsWith(cwd) && !ignored(path) && !isProtected(nameOf(path)))
  const found = await withoutLinked(inside)
  const shown = (await newestFirst(found)).slice(0, limit)
  return { names: shown.map(nameOf), more: found.length - shown.length }
}

/** Where a pattern begins with names, not with wildcards, the search follows them, over links too. */
async function withoutLinked(paths: readonly string[]): Promise<string[]> {
  const reals = new Map<string, boolean>()
  for (const folder of new Set(paths.map(dirname))) {
    const real = await realpath(folder).catch(() => undefined)
    reals.set(folder, real === folder)
  }
  return paths.filter((path) => reals.get(dirname(path)))
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
