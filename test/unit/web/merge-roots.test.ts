/** A list that is read in parts. */
import { describe, expect, it } from 'vitest'
import { mergeRoots } from '../../../src/web/roots/merge-roots.ts'
import type { Root } from '../../../src/web/server/wire.ts'

const root = (n: number, state = 'idle'): Root =>
  ({ id: `s${n}`, createdAt: `2026-01-01T00:00:0${n}.000Z`, state }) as Root
const ids = (roots: readonly Root[]): string => roots.map(({ id }) => id).join(' ')

describe('the list of roots', () => {
  it('has the newest first, and each once', () => {
    const first = mergeRoots([], [root(5), root(4)], { limit: 2 })
    const both = mergeRoots(first, [root(3), root(2)], { before: root(4).createdAt, limit: 2 })
    expect(ids(both)).toBe('s5 s4 s3 s2')
    expect(ids(mergeRoots(both, [root(6), root(5)], { limit: 2 }))).toBe('s6 s5 s4 s3 s2')
  })

  it('takes over what has changed', () => {
    const merged = mergeRoots([root(2), root(1)], [root(2, 'running')], { limit: 1 })
    expect(merged.map(({ state }) => state)).toEqual(['running', 'idle'])
  })

  it('drops what has left the part that was asked about, and nothing else', () => {
    const known = [root(5), root(4), root(3), root(2), root(1)]
    expect(ids(mergeRoots(known, [root(4), root(2)], { before: root(5).createdAt, limit: 2 }))).toBe('s5 s4 s2 s1')
  })

  it('knows by a short answer that nothing older is left', () => {
    expect(ids(mergeRoots([root(3), root(2), root(1)], [root(3)], { limit: 2 }))).toBe('s3')
    expect(ids(mergeRoots([root(3), root(2)], [], { before: root(3).createdAt, limit: 2 }))).toBe('s3')
  })
})
