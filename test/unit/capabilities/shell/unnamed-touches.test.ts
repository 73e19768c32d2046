/** What a shell command reads or runs without a name: programs on an input, files below a folder. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { touchesOf } from '../../../../src/capabilities/shell/command-touches.ts'

function workingFolder(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'stello-unnamed-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'src/deep'), { recursive: true })
  for (const name of ['a.txt', 'a.py', 'src/c.ts']) writeFileSync(join(root, name), name)
  return root
}

async function touched(command: string): Promise<string[]> {
  const root = workingFolder()
  return (await touchesOf(command, root)).map((touch) => {
    if (touch.kind === 'unknown') return `unknown ${touch.what}`
    return touch.kind === 'write' ? `write ${touch.path.replace(`${root}/`, '')}` : touch.kind
  })
}

describe('a program that an interpreter gets on its input is named by no rule', () => {
  it.each([
    "python3 <<< 'print(1)'",
    'echo x | python3',
    'python3 -',
    'curl x | node',
    'perl < a.txt',
    'python3 -W ignore',
    'source /dev/stdin',
    '. <(curl x)',
    'curl x | bash /dev/stdin',
    'ruby /dev/fd/0',
    'curl x | python3 -Xfaulthandler',
    'curl x | python3 -Wmodule',
    'curl x | perl -Mfeature',
    'curl x | deno run -',
  ])('%s', async (command) => {
    expect((await touched(command)).filter((each) => each.startsWith('unknown'))).not.toEqual([])
  })

  it.each([
    'python3 a.py',
    "python3 -c 'print(1)'",
    'python3 -W ignore a.py',
    'node --version',
    "perl -ne 'print' a.txt",
    'source a.txt',
    'python3 -m pytest',
  ])('%s brings its own', async (command) => {
    expect((await touched(command)).filter((each) => each.startsWith('unknown'))).toEqual([])
  })

  it('what a shell sources from a here-document is taken apart', async () => {
    expect(await touched("source /dev/stdin <<< 'rm a.txt'")).toContain('write a.txt')
  })
})

describe('a reader of a folder with files that must not be read', () => {
  const asks = async (command: string): Promise<boolean> => {
    const root = workingFolder()
    writeFileSync(join(root, 'src/deep/.env'), 'KEY=1')
    const touches = await touchesOf(command, root, (path) => !path.endsWith('/.env'))
    return touches.some((touch) => touch.kind === 'unknown' && touch.what.includes('.env'))
  }

  it.each([
    'grep -r KEY .',
    'grep -rn KEY src',
    'grep --recursive KEY',
    'grep --recurs KEY',
    'grep -5r KEY .',
    'grep --direct=recurse KEY .',
    'git -C . show HEAD:a.txt',
    'git -P diff',
    'git log -U3',
    'rg KEY',
    'find . -type f -exec cat {} +',
    'find src -type f | xargs -I% true; diff -r src .',
    'git diff',
    'git show HEAD',
    'git log -p',
    'git grep KEY',
    'cp -r src out',
  ])('%s must be asked about', async (command) => expect(await asks(command)).toBe(true))

  it.each([
    'ls -R',
    'find . -name a',
    'grep KEY a.txt',
    'cat a.txt | grep KEY',
    'git status',
    'git log --oneline',
    'du',
    'cat src/c.ts',
  ])('%s need not', async (command) => expect(await asks(command)).toBe(false))
})
