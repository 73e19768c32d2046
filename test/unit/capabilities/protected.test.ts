/**
 * Files that hold secrets, and files that run by themselves: no tool reads them, writes them, or gives their names
 * away.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { locate } from '../../../src/capabilities/filesystem/locate.ts'
import { filesystem, PROTECTED_NAMES } from '../../../src/capabilities/index.ts'
import type { SessionContext } from '../../../src/index.ts'
import { refusal } from '../agent/authoring.ts'
import { SECRET, useFolder } from './folders.ts'

const session: SessionContext = { sessionId: 's-1', rootId: 's-1', depth: 0, signal: new AbortController().signal }

const PROTECTED = [
  '.git/config',
  '.git/hooks/pre-commit',
  'sub/.git/HEAD',
  '.GIT/config',
  '.env',
  '.env.local',
  '.ssh/id_rsa',
  '.aws/credentials',
  '.aws/config',
  'home/.kube/config',
  '.docker/config.json',
  '.stello/postgres.password',
  '.npmrc',
  'sub/.netrc',
  '.git-credentials',
  '.Npmrc',
  'id_ed25519',
  'keys/id_rsa.old',
  'tls/server.pem',
  'credentials',
  'src/.credentials.json',
  '.husky/pre-commit',
  '.github/workflows/ci.yml',
  'sub/.github/workflows/ci.yml',
  '.vscode/tasks.json',
]

it.each(PROTECTED)('%s is neither read nor written', async (file_path) => {
  const folder = useFolder({ [file_path]: SECRET })
  expect(await folder.call('Read', { file_path })).toMatchObject({
    isError: true,
    text: expect.stringContaining('protected'),
  })
  expect(await folder.call('Write', { file_path, content: 'x' })).toMatchObject({ isError: true })
  expect(readFileSync(join(folder.root, file_path), 'utf8')).toBe(SECRET)
})

it('a protected file is not even named: in a directory, in a search, as a similar name', async () => {
  const folder = useFolder({ ...Object.fromEntries(PROTECTED.map((name) => [name, SECRET])), 'beside.txt': '' })
  expect((await folder.call('Glob', { pattern: '**' })).text).toBe('beside.txt')
  expect((await folder.call('Glob', { pattern: '{.aws,.ssh,.hus}*', include_directories: true })).text).toBe(
    'No files found.',
  )
  const listed = await folder.call('Read', { file_path: '.' })
  expect(listed.text.split('\n')).toEqual([
    'Directory .:',
    '.github/',
    '.vscode/',
    'beside.txt',
    'home/',
    'keys/',
    'src/',
    'sub/',
    'tls/',
  ])
  for (const [directory, similar] of [
    ['keys', 'keys/rsa'],
    ['tls', 'tls/server.txt'],
    ['.vscode', '.vscode/tasks.yaml'],
  ] as const) {
    expect((await folder.call('Read', { file_path: directory })).text).toBe(`Directory ${directory}:\n(empty)`)
    expect((await folder.call('Read', { file_path: similar })).text).toBe(`File not found: ${similar}.`)
  }
})

it('the author decides what is protected', async () => {
  const names = { 'data.sqlite': '', '.npmrc': '', '.netrc': '', 'kept/a.txt': '' }
  const { root } = useFolder(names)
  const reachable = async (protect: readonly string[]): Promise<string[]> => {
    const found: string[] = []
    for (const name of Object.keys(names))
      await locate({ root, protect }, { session, given: name }).then(
        () => found.push(name),
        () => 0,
      )
    return found
  }
  expect(await reachable([...PROTECTED_NAMES, '*.sqlite', '!.npmrc'])).toEqual(['.npmrc', 'kept/a.txt'])
  expect(await reachable(['/kept/'])).toEqual(['data.sqlite', '.npmrc', '.netrc'])
  expect(await reachable([])).toEqual(Object.keys(names))
})

it.each([['*.pem'], [7], [[7]], [['']], [null]])('%j is no list of what is protected', (protect) => {
  const made = (): unknown => filesystem({ sandboxManager: { root: '/srv', protect: protect as never } })
  expect(refusal('INVALID_ARGUMENT', made)).toContain('sandboxManager.protect is no list of patterns')
})

it.each([
  '.gitignore',
  '.env.example',
  'src/environment.ts',
  '.github/a.yml',
  'src/credentials/index.ts',
  '.vscode/settings.json',
  'grid_model.ts',
  'dockerfile',
])('%s is a file like others', async (file_path) => {
  expect(await useFolder({ [file_path]: 'x' }).call('Read', { file_path })).toMatchObject({ isError: false })
})
