/**
 * The rows of a drawn tree. Pure. A small tree is shown whole. In a big one, what is quiet is gathered into one row for each
 * parent, so that what runs, waits or is stuck can be seen; the way to it and to the session that is looked at stays open.
 */
import type { Tree } from '../server/wire.ts'

/** Up to this many sessions a tree is shown whole. */
const SHOWN_WHOLE = 24
/** Fewer quiet children than this are no burden to the eye. */
const FEW = 4

export interface SessionRow {
  kind: 'session'
  session: Tree
  /** For each level above, whether a line goes on below it. */
  guides: readonly boolean[]
  isLast: boolean
  /** Sessions below it. */
  below: number
  isOpen: boolean
}

/** Quiet children of one session, gathered. */
export interface RestRow {
  kind: 'rest'
  parentId: string
  count: number
  guides: readonly boolean[]
  isLast: boolean
}

export type TreeRow = SessionRow | RestRow

/** What the person has opened and closed: sessions by their ids, gathered rows by `restKey`. */
export type Folds = ReadonlyMap<string, boolean>

export function restKey(parentId: string): string {
  return `rest ${parentId}`
}

/** @param here the session that is looked at */
export function treeRows(root: Tree, here: string, folds: Folds): TreeRow[] {
  const { sizes, awake } = measured(root, here)
  const isBig = (sizes.get(root.id) ?? 1) > SHOWN_WHOLE
  const rows: TreeRow[] = []
  const add = (session: Tree, guides: readonly boolean[], isLast: boolean): void => {
    const { id, children, depth } = session
    const quiet = isBig ? children.filter((child) => !awake.has(child.id)) : []
    const gathers = quiet.length >= FEW && !folds.get(restKey(id))
    const isOpen = folds.get(id) ?? (!isBig || depth === 0 || awake.has(id))
    rows.push({ kind: 'session', session, guides, isLast, below: (sizes.get(id) ?? 1) - 1, isOpen })
    if (!isOpen) return
    const below = session === root ? [] : [...guides, !isLast]
    const shown = gathers ? children.filter((child) => awake.has(child.id)) : children
    for (const [index, child] of shown.entries()) add(child, below, index === shown.length - 1 && !gathers)
    if (!gathers) return
    const count = quiet.reduce((sum, child) => sum + (sizes.get(child.id) ?? 1), 0)
    rows.push({ kind: 'rest', parentId: id, count, guides: below, isLast: true })
  }
  add(root, [], true)
  return rows
}

/** How many sessions each subtree has, and which have something awake in them. */
function measured(root: Tree, here: string): { sizes: Map<string, number>; awake: Set<string> } {
  const sizes = new Map<string, number>()
  const awake = new Set<string>()
  const measure = ({ id, state, children }: Tree): void => {
    let size = 1
    let isAwake = id === here || (state !== 'idle' && state !== 'closed')
    for (const child of children) {
      measure(child)
      size += sizes.get(child.id) ?? 1
      isAwake ||= awake.has(child.id)
    }
    sizes.set(id, size)
    if (isAwake) awake.add(id)
  }
  measure(root)
  return { sizes, awake }
}

/** Every session of a tree, parents first. */
export function flatTree(root: Tree): Tree[] {
  return [root, ...root.children.flatMap(flatTree)]
}

/** The sessions from the root to one. Empty if the tree does not hold it. */
export function pathTo(root: Tree, id: string): Tree[] {
  if (root.id === id) return [root]
  for (const child of root.children) {
    const path = pathTo(child, id)
    if (path.length > 0) return [root, ...path]
  }
  return []
}
