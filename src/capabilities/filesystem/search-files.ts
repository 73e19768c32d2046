/**
 * The search of Glob. It runs in a thread: patterns, names and rules come from a model or a repository, and may take
 * for ever to match.
 */
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { glob } from 'tinyglobby'
import { protectedBy } from './protected.ts'
import ignore, { type Ignore } from 'ignore'
import { withFile } from './open-file.ts'

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

const SIZE_LIMIT = 1024 * 1024

/** Tells which paths `.gitignore` files hide. The nearest file with a rule for a path decides. @param files paths of `.gitignore` files below the root; an unreadable one hides nothing */
async function ignoredBy(root: string, files: readonly string[]): Promise<(path: string) => boolean> {
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
function ignoreFilesAbove(folder: string, root: string): string[] {
  const found = [join(folder, '.gitignore')]
  for (let at = folder; at !== root; at = dirname(at)) found.push(join(dirname(at), '.gitignore'))
  return found
}
