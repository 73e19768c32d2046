/** The path rule: whatever path a model writes, nothing outside of the folder is read, written, or named. */
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { filesystem } from '../../../src/capabilities/index.ts'
import { locate } from '../../../src/capabilities/filesystem/locate.ts'
import { run } from '../../../src/capabilities/filesystem/search-files.ts'
import type { SessionContext } from '../../../src/index.ts'
import { refusal } from '../agent/authoring.ts'
import { SECRET, useFolder, type Folder } from './folders.ts'

const session: SessionContext = { sessionId: 's-1', rootId: 's-1', depth: 0, signal: new AbortController().signal }

/** Links as an attacker, or a careless build, may leave them. */
function withLinks(): Folder {
  const folder = useFolder({ 'a.txt': 'A', 'deep/b.txt': 'B' })
  const { root, outside } = folder
  symlinkSync(outside, join(root, 'link'))
  symlinkSync('../root-not/secret.txt', join(root, 'secret-link'))
  symlinkSync('../root-not/new.txt', join(root, 'dangling'))
  symlinkSync('link', join(root, 'link-to-link'))
  symlinkSync('loop', join(root, 'loop'))
  symlinkSync('..', join(root, 'deep/up'))
  symlinkSync('../..', join(root, 'deep/up-two'))
  symlinkSync('deep/b.txt', join(root, 'inner-link'))
  symlinkSync('/', join(root, 'slash'))
  return folder
}

const ESCAPES: [how: string, path: (folder: Folder) => string][] = [
  ['up', () => '../root-not/secret.txt'],
  ['up from below', () => 'deep/../../root-not/secret.txt'],
  ['up from what is not there', () => 'none/../../root-not/secret.txt'],
  ['an absolute path', ({ outside }) => join(outside, 'secret.txt')],
  ['an absolute path that begins like the root', ({ root }) => `${root}-not/secret.txt`],
  ['an absolute path that goes up from the root', ({ root }) => `${root}/../root-not/secret.txt`],
  ['a link to a directory', () => 'link/secret.txt'],
  ['a link to a link', () => 'link-to-link/secret.txt'],
  ['a link to a file', () => 'secret-link'],
  ['a link to what is not there', () => 'dangling'],
  ['below a link to what is not there', () => 'dangling/new.txt'],
  ['a link to what is above', () => 'deep/up-two/root-not/secret.txt'],
  ['a link to everything', ({ outside }) => `slash${outside}/secret.txt`],
  ['a link in a circle', () => 'loop'],
  ['a new file below a link', () => 'link/new.txt'],
  ['a new folder below a link', () => 'link/new/new.txt'],
  ['a null character', ({ outside }) => `a.txt\0${outside}/secret.txt`],
  ['the parent', () => '..'],
  ['a link to the parent', () => 'deep/up-two'],
]

describe('no tool gets out of the folder', () => {
  it.each(ESCAPES)('by %s', async (_how, pathOf) => {
    const folder = withLinks()
    const file_path = pathOf(folder)
    await expect(locate({ root: folder.root }, { session, given: file_path })).rejects.toThrow()
    const results = [
      await folder.call('Read', { file_path }),
      await folder.call('Write', { file_path, content: 'broken' }),
      await folder.call('Edit', { file_path, old_string: 'secret', new_string: 'broken' }),
      await folder.call('Edit', { file_path, old_string: '', new_string: 'broken' }),
      await folder.call('Glob', { pattern: '**', path: file_path }),
      await folder.call('Grep', { pattern: 'secret', path: file_path }),
      await folder.call('NotebookEdit', { notebook_path: file_path, new_source: 'broken', cell_id: 'cell-0' }),
    ]
    for (const { text, isError } of results) {
      expect(isError).toBe(true)
      expect(text).not.toContain(SECRET)
    }
    expect(readdirSync(folder.outside)).toEqual(['secret.txt'])
    expect(readFileSync(join(folder.outside, 'secret.txt'), 'utf8')).toBe(SECRET)
  })

  it('by any path made of parts that are dangerous', async () => {
    const folder = withLinks()
    const part = fc.constantFrom(
      '..',
      '.',
      '',
      'a.txt',
      'deep',
      'up',
      'up-two',
      'link',
      'dangling',
      'loop',
      'slash',
      'none',
      'root-not',
      'secret.txt',
      '~',
    )
    const paths = fc.array(part, { maxLength: 7 }).map((parts) => parts.join('/'))
    await fc.assert(
      fc.asyncProperty(paths, async (given) => {
        const place = await locate({ root: folder.root }, { session, given }).catch(() => undefined)
        if (place) expect(`${place.path}/`.startsWith(`${folder.root}/`)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('by a pattern', async () => {
    const folder = withLinks()
    for (const pattern of [
      '../**',
      '**/../../**',
      '/**',
      '{..,x}/*',
      '{/,x}**',
      '\\.\\./**',
      'deep/..',
      './../*',
      '@(..)/*',
    ]) {
      const { text } = await folder.call('Glob', { pattern })
      expect(text).not.toMatch(/secret|root-not/)
    }
    expect((await folder.call('Glob', { pattern: '**/*.txt' })).text.split('\n').toSorted()).toEqual([
      'a.txt',
      'deep/b.txt',
    ])
  })
})

it.each([
  'link/*',
  'link/**/*.txt',
  'link/secret.*',
  '{link,deep}/*',
  'link-to-link/secret.txt',
  'deep/up-two/root-not/*',
  '{slash,a}/*',
])('no search follows the links at the beginning of %s', async (pattern) => {
  const { root } = withLinks()
  for (const either of [true, false]) {
    const options = { directories: either, caseSensitive: either, protect: undefined, limit: 1000 }
    const { names, more } = await run({ root, cwd: root, pattern, ...options })
    expect([names.filter((name) => !/^deep(\/|$)/.test(name)), more]).toEqual([[], 0])
    expect(names.join()).not.toMatch(/secret|root-not/)
  }
})

describe('inside of the folder', () => {
  it.each(['deep/b.txt', './deep//b.txt', 'none/../deep/b.txt', 'deep/up/deep/b.txt', 'inner-link'])(
    '%s is found, under one name',
    async (given) => {
      const { root } = withLinks()
      expect(await locate({ root }, { session, given })).toEqual({
        root,
        path: `${root}/deep/b.txt`,
        name: 'deep/b.txt',
      })
    },
  )

  it('an absolute path is found, also if the folder was named by a link', async () => {
    const { root, outside } = withLinks()
    symlinkSync(root, join(outside, 'named'))
    for (const given of [`${root}/a.txt`, `${outside}/named/new/a.txt`]) {
      expect((await locate({ root: join(outside, 'named') }, { session, given })).path.startsWith(`${root}/`)).toBe(
        true,
      )
    }
  })

  it('a link to a file is written through, and stays a link', async () => {
    const folder = withLinks()
    await folder.call('Read', { file_path: 'inner-link' })
    expect(await folder.call('Write', { file_path: 'inner-link', content: 'C' })).toMatchObject({ isError: false })
    expect(readFileSync(join(folder.root, 'deep/b.txt'), 'utf8')).toBe('C')
  })

  it('a hard link to a file outside is replaced, and the file outside stays as it is', async () => {
    const folder = withLinks()
    linkSync(join(folder.outside, 'secret.txt'), join(folder.root, 'hard'))
    await folder.call('Read', { file_path: 'hard' })
    expect(await folder.call('Write', { file_path: 'hard', content: 'C' })).toMatchObject({ isError: false })
    expect(readFileSync(join(folder.outside, 'secret.txt'), 'utf8')).toBe(SECRET)
  })

  it('what is no regular file is refused at once, without a wait', async () => {
    const folder = useFolder({ 'a.txt': 'A' })
    execFileSync('mkfifo', [join(folder.root, 'pipe')])
    const server = createServer().listen(join(folder.root, 'socket'))
    onTestFinished(() => void server.close())
    mkdirSync(join(folder.root, 'folder'))
    for (const file_path of ['pipe', 'socket', 'folder', 'a.txt/b']) {
      const write = await folder.call('Write', { file_path, content: 'x' })
      expect(write.isError, file_path).toBe(true)
      expect(write.text).not.toContain(folder.root)
      if (file_path !== 'folder') expect((await folder.call('Read', { file_path })).isError, file_path).toBe(true)
    }
  })
})

describe('sandboxManager', () => {
  it('gives each session a folder of its own, which is made if it is missing', async () => {
    const { root } = useFolder()
    const manager = { root: async ({ sessionId }: SessionContext) => join(root, 'of', sessionId) }
    expect(await locate(manager, { session, given: 'a' })).toMatchObject({ root: `${root}/of/s-1`, name: 'a' })
    writeFileSync(join(root, 'of/s-1/a'), 'A')
    expect((await locate(manager, { session: { ...session, sessionId: 's-2' }, given: 'a' })).path).toBe(
      `${root}/of/s-2/a`,
    )
  })

  const WRONG: [root: unknown, says: string][] = [
    ['', 'is no folder'],
    [undefined, 'is no folder'],
    [7, 'is no folder'],
    ['work', 'is not absolute'],
    ['./work', 'is not absolute'],
    ['../work', 'is not absolute'],
    ['~/work', 'is not absolute'],
    ['/srv/undefined', 'holds "undefined"'],
    ['/srv/user-undefined/files', 'holds "undefined"'],
    ['/srv/users/null', 'holds "null"'],
    ['/srv/u_NaN', 'holds "NaN"'],
    ['/srv/[object Object]', 'holds "[object "'],
  ]

  it.each(WRONG)(
    'with the root %j is refused when the pack is made, or at the call if it is computed',
    async (root, says) => {
      const made = (): unknown => filesystem({ sandboxManager: { root: root as string } })
      expect(refusal('INVALID_ARGUMENT', made)).toContain(says)
      await expect(locate({ root: () => root as string }, { session, given: 'a' })).rejects.toThrow(says)
    },
  )

  it.each(['nullable', 'banana', 'annulled'])('with a root that only looks like nothing (%s) is used', async (name) => {
    const { root } = useFolder()
    expect(await locate({ root: join(root, name) }, { session, given: 'a' })).toMatchObject({ root: join(root, name) })
  })
})
