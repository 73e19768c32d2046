/** Merges an answer about a part of the list of roots into the known list. Pure. */
import type { Root } from '../server/wire.ts'

/**
 * The part that was asked about: roots created before `before`, about `limit`, newest first. Roots of one millisecond always
 * come together.
 */
export interface RootsPart {
  before?: string
  limit: number
}

/**
 * The answer holds every root of its part. A known root of that part which is missing has left the list.
 *
 * @returns newest first, each root once
 * @example mergeRoots(known, await api.roots({ limit: 100 }), { limit: 100 })
 */
export function mergeRoots(known: readonly Root[], answer: readonly Root[], { before, limit }: RootsPart): Root[] {
  const last = answer.length < limit ? undefined : answer.at(-1)
  const told = new Set(answer.map(({ id }) => id))
  const isInPart = ({ createdAt }: Root): boolean =>
    (before === undefined || createdAt < before) && (last === undefined || createdAt >= last.createdAt)
  const others = known.filter((root) => !told.has(root.id) && !isInPart(root))
  return [...others, ...answer].sort((a, b) => compare(b.createdAt, a.createdAt) || compare(a.id, b.id))
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
