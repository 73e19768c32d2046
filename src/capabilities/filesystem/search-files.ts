/**
 * The search of Glob. It runs in a thread: patterns, names and rules come from a model or a repository, and may take
 * for ever to match.
 */
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { glob } from 'tinyglobby'
import { ignoredBy, ignoreFilesAbove } from './ignored.ts'
import { protectedBy } from './protected.ts'

export interface FileSearch {
  /** The folder, and the directory in it to search, without links. */
  root: string
  cwd: string
  pattern: string
  directories: boolean
  caseSensitive: boolean
  /** Patterns of names that are not shown. */
  protect: readonly string[] | undefined
  /** How many names are returned at most. */
  limit: number
}

export interface FoundFiles {
  /** Names from the root, with slashes, the last changed first. */
  names: string[]
  /** How many more were found. */
  more: number
}

const NEVER = ['**/.git/**', '**/node_modules/**', '**/.stello-*.tmp']
/** How many files are examined at the same time. */
const BATCH = 200

/** Called by `thread.ts`. */
export async function run(search: FileSearch): Promise<FoundFiles> {
  const { root, cwd, pattern, directories, caseSensitive, limit } = search
  const options = { cwd, dot: true, ignore: NEVER, followSymbolicLinks: false, expandDirectories: false }
  const ignoreFiles = await glob('**/.gitignore', options)
  const paths = await glob(pattern, {
    ...options,
    // Nested quantifiers take the longest to match.
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

/** If a pattern begins with names instead of wildcards, the search follows them, also over links. */
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

/** A file that is gone by now comes last. */
async function changedAt(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined)
  return stats?.mtimeMs ?? 0
}
