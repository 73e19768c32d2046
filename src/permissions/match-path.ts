/**
 * Matches paths by patterns as in a `.gitignore`, relative to the folder that a session works in: `.env` at any depth,
 * `/docs/*.md` or `src/**` from the folder down. `//srv/data/**` is an absolute path.
 */
import ignore, { type Ignore } from 'ignore'
import type { Doubt } from './part.ts'

/** @param path absolute @param root absolute; unset: not known */
export type PathMatcher = (path: string, root: string | undefined, doubt: Doubt) => boolean

/** With more `**` in a pattern, or with deeper paths, a match could take all of a worker's time: a model chooses the path. */
const MOST_ANY_DEPTH = 3
const DEEPEST = 64

/** Patterns that name the folder itself. */
const WHOLE = /^\/?(?:\*\*?(?:\/\*\*?)?|\.)?\/?$/

/** What is wrong with a pattern. */
export function pathProblem(spec: string): string | undefined {
  return (spec.match(/\*\*\//g) ?? []).length > MOST_ANY_DEPTH
    ? `a pattern holds **/ at most ${MOST_ANY_DEPTH} times; name a folder, or state several rules`
    : undefined
}

export function pathMatcher(spec: string): PathMatcher {
  const absolute = spec.startsWith('//')
  const pattern = absolute ? spec.slice(1) : spec.replace(/^\.\//, '/')
  const exact = lazily(() => ignore({ ignorecase: false }).add(pattern))
  const loose = lazily(() => ignore({ ignorecase: true }).add(pattern))
  const anywhere = lazily(() => ignore({ ignorecase: true }).add(pattern.replace(/^\/?/, '**/')))
  return (path, root, doubt) => {
    // A match would take too long, so it stays in doubt.
    if (path.split('/').length - 1 > DEEPEST) return doubt === 'wide'
    const rules = doubt === 'strict' ? exact() : loose()
    if (absolute) return covers(rules, pattern, path.replace(/^\/+/, ''))
    const below = root === undefined ? undefined : within(root, path)
    if (below !== undefined) return covers(rules, pattern, below)
    // The pattern is relative to a folder that is not known, so it may fit this path.
    return doubt === 'wide' && covers(anywhere(), '', path.replace(/^\/+/, ''))
  }
}

function covers(rules: Ignore, pattern: string, name: string): boolean {
  return name === '' ? WHOLE.test(pattern) : rules.ignores(name)
}

/** The path from the root down; undefined when it is not inside. */
function within(root: string, path: string): string | undefined {
  const folder = root.replace(/\/+$/, '')
  if (path === folder) return ''
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
