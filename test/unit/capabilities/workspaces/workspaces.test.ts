/** The folders of one host: made once, filled before a call enters, and one for each generation. */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createStelloAgent } from '../../../../src/index.ts'
import { workspaceRoot, workspaces, type WorkspacesOptions } from '../../../../src/capabilities/index.ts'
import { scriptedModel } from '../../../../src/testing/index.ts'
import { testContext } from '../test-context.ts'

let base: string
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'stello-base-'))
  return () => rm(base, { recursive: true })
})

const { signal } = new AbortController()
const keeper = (options: Partial<WorkspacesOptions> = {}) => workspaces({ base, ...options }).workspaces
const first = { id: 's-1', generation: 1 }

describe('a working folder', () => {
  it('is made and filled once, also for calls that come in at the same time', async () => {
    let filled = 0
    const hydrate = async ({ root }: { root: string }) => {
      filled++
      await writeFile(join(root, 'a.txt'), 'new')
    }
    const { enter } = keeper({ hydrate })
    const roots = await Promise.all([enter(first, signal), enter(first, signal)])
    expect(new Set(roots)).toEqual(new Set([join(base, 's-1/1/files')]))
    await writeFile(join(roots[0] ?? '', 'a.txt'), 'changed')
    expect(await keeper({ hydrate }).enter(first, signal)).toBe(roots[0])
    expect([filled, await readFile(join(roots[0] ?? '', 'a.txt'), 'utf8')]).toEqual([1, 'changed'])
  })

  it('is never seen half full: a folder that could not be filled is removed, and the next call fills it again', async () => {
    let tries = 0
    const { enter } = keeper({
      async hydrate({ root }) {
        await writeFile(join(root, `${++tries}.txt`), '')
        if (tries === 1) throw new Error('the repository is away')
      },
    })
    await expect(enter(first, signal)).rejects.toThrow('the repository is away')
    expect(await readdir(join(base, 's-1'))).toEqual([])
    expect(await readdir(await enter(first, signal))).toEqual(['2.txt'])
  })

  it('of the next generation is a new one; a call that comes with an earlier one is refused, and the old files stay', async () => {
    const { enter } = keeper()
    const old = await enter(first, signal)
    await writeFile(join(old, 'a.txt'), 'old')
    const moved = await enter({ ...first, generation: 2 }, signal)
    expect(await readdir(moved)).toEqual([])
    await expect(enter(first, signal)).rejects.toMatchObject({ code: 'TOOL_WORKSPACE_LOST' })
    await writeFile(join(old, 'a.txt'), 'of a worker that does not know it')
    expect(await readdir(moved)).toEqual([])
  })
})

describe('the id of a host', () => {
  it('is the same after every restart, and for workers that start at once', async () => {
    const both = await Promise.all([keeper().host(), keeper().host()])
    expect(new Set([...both, await keeper().host()]).size).toBe(1)
    expect(await readdir(base)).toEqual(['.stello-host'])
  })

  it('is the stated one; a file with other content is no id', async () => {
    expect(await keeper({ host: 'build-7' }).host()).toBe('build-7')
    await writeFile(join(base, '.stello-host'), 'a b\n')
    await expect(keeper().host()).rejects.toThrow(/\.stello-host holds no id of a host: "a b" is not allowed/)
  })
})

it.each([
  [{ base: 'here' }, /base is not absolute/],
  [{ per: 'turn' as 'tree' }, /per is neither/],
  [{ host: 'a/b' }, /host "a\/b" is not allowed/],
  [{ capacity: 0 }, /capacity is 0/],
  [{ lostAfter: 'soon' }, /lostAfter: 'soon' is not a duration/],
])('refuses %j', (options, problem) => {
  expect(() => workspaces({ base: '/srv/workspaces', ...options })).toThrow(problem)
})

it('the root of file tools is the folder of the call; without one, the error says what is missing', () => {
  const root = workspaceRoot()
  expect(root(testContext({ workspace: { id: 's-1', root: '/srv/w/1' } }))).toBe('/srv/w/1')
  expect(() => root(testContext())).toThrow('add the pack workspaces({ base }) to the agent')
})

it('an agent has one such pack at most', () => {
  const packs = [workspaces({ base }), workspaces({ base })]
  expect(() => createStelloAgent({ name: 'two', llm: scriptedModel([]), capabilities: { packs } })).toThrow(
    /more than one pack gives working folders/,
  )
})
