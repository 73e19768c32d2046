/** Which rows a drawn tree has, small and big. */
import { describe, expect, it } from 'vitest'
import { doing, moodOf, span } from '../../../src/web/tree/doing.ts'
import { pathTo, restKey, treeRows, type Folds } from '../../../src/web/tree/tree-rows.ts'
import type { Tree } from '../../../src/web/server/wire.ts'

function session(id: string, state: Tree['state'], children: Tree[] = [], depth = 1): Tree {
  const quiet = { inHand: [], pending: [], heldBy: [], turns: 0, records: 0, createdAt: '', agent: 'a', rootId: 'root' }
  return { ...quiet, id, label: id, state, children, depth }
}

const many = (count: number, state: Tree['state']): Tree[] =>
  Array.from({ length: count }, (_, index) => session(`${state}-${index}`, state))

function shown(root: Tree, here = 'root', folds: Folds = new Map()): string[] {
  return treeRows(root, here, folds).map((row) => {
    return `${'  '.repeat(row.guides.length)}${row.kind === 'rest' ? `${row.count} quiet` : row.session.id}`
  })
}

describe('a drawn tree', () => {
  it('shows a small tree whole', () => {
    const root = session('root', 'idle', [session('a', 'idle', [session('b', 'closed', [], 2)])], 0)
    expect(shown(root)).toEqual(['root', 'a', '  b'])
  })

  it('gathers what is quiet in a big tree, and leaves what is awake', () => {
    const root = session('root', 'waiting', [...many(300, 'closed'), session('a', 'running')], 0)
    expect(shown(root)).toEqual(['root', 'a', '300 quiet'])
    expect(shown(root, 'root', new Map([[restKey('root'), true]]))).toHaveLength(302)
  })

  it('keeps the way to the session that is looked at open', () => {
    const deep = session('deep', 'closed', [session('here', 'closed', [], 3)], 2)
    const root = session('root', 'closed', [...many(40, 'closed'), session('way', 'closed', [deep], 1)], 0)
    expect(shown(root, 'here')).toEqual(['root', 'way', '  deep', '    here', '40 quiet'])
    expect(pathTo(root, 'here').map(({ id }) => id)).toEqual(['root', 'way', 'deep', 'here'])
  })

  it('does what the person says about folds', () => {
    const root = session('root', 'idle', [session('a', 'idle')], 0)
    expect(shown(root, 'root', new Map([['root', false]]))).toEqual(['root'])
  })
})

describe('what a session does', () => {
  const quiet = session('s', 'running')

  it('names the question first, then the pause, then what is in hand', () => {
    const asked = { message: 'may it?' } as Tree['pending'][number]
    const inHand = [{ kind: 'tool', name: 'Bash', since: new Date(1_000).toISOString() }]
    expect(doing({ ...quiet, inHand }, 3_500)).toBe('Bash 2.5 s')
    expect(doing({ ...quiet, inHand, pending: [asked] }, 0)).toBe('may it?')
    expect(moodOf({ state: 'waiting', pending: [asked] })).toBe('asks')
  })

  it('says times as people do', () => {
    expect([12, 1_500, 42_000, 125_000, 3_700_000, 200_000_000].map(span)).toEqual([
      '12 ms',
      '1.5 s',
      '42 s',
      '2 min',
      '1 h 1 min',
      '2 d',
    ])
  })
})
