/** Grep on real files, with the real program. */
import { execFileSync } from 'node:child_process'
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ripgrepPath } from '../../../../src/capabilities/filesystem/ripgrep.ts'
import { SECRET, useFolder } from '../folders.ts'

const FILES = {
  'a.ts': 'one\ntwo\nthree\nfour\nfive\ntwo\n',
  'src/b.ts': 'Two\n',
  'src/c.py': 'two = 2\n',
  '.hidden': 'two\n',
}

async function found(args: Record<string, unknown>, files: Record<string, string | Buffer> = FILES): Promise<string> {
  const { text, isError } = await useFolder(files).call('Grep', args)
  expect(isError, text).toBe(false)
  return text
}

it.each([
  ['names files, in order', {}, '.hidden\na.ts\nsrc/c.py'],
  ['ignores case', { '-i': true }, '.hidden\na.ts\nsrc/b.ts\nsrc/c.py'],
  ['counts', { output_mode: 'count' }, '.hidden:1\na.ts:2\nsrc/c.py:1'],
  ['shows lines', { output_mode: 'content', glob: '*.ts' }, 'a.ts:2:two\na.ts:6:two'],
  ['shows lines without numbers', { output_mode: 'content', glob: '*.ts', '-n': false }, 'a.ts:two\na.ts:two'],
  ['searches a directory', { path: 'src' }, 'src/c.py'],
  ['searches a file', { path: 'a.ts', output_mode: 'content' }, 'a.ts:2:two\na.ts:6:two'],
  ['takes a language', { type: 'py' }, 'src/c.py'],
  ['finds nothing', { glob: '*.rs' }, 'No matches found'],
])('%s', async (_what, args, text) => {
  expect(await found({ pattern: 'two', ...args })).toBe(text)
})

it('shows groups of lines apart, only what matches, and matches over lines', async () => {
  const content = { output_mode: 'content', path: 'a.ts' }
  expect(await found({ pattern: 'two', ...content, '-B': 1 })).toBe(
    'a.ts:1-one\na.ts:2:two\n--\na.ts:5-five\na.ts:6:two',
  )
  expect(await found({ pattern: 'o.e', ...content, '-o': true })).toBe('a.ts:1:one')
  expect(await found({ pattern: 'one.two', ...content, multiline: true })).toBe('a.ts:1:one\na.ts:2:two')
})

it('goes on from the place that it is given', async () => {
  const { call } = useFolder({ 'a.txt': 'x\n'.repeat(400) })
  const grep = async (args: object) =>
    (await call('Grep', { pattern: 'x', output_mode: 'content', ...args })).text.split('\n')
  const first = await grep({})
  expect([first.length, first.at(-1)]).toEqual([251, '(there are more: use offset=250)'])
  expect((await grep({ offset: 250 })).length).toBe(150)
  expect((await grep({ head_limit: 0 })).length).toBe(400)
  expect(await grep({ offset: 400 })).toEqual(['No more matches'])
  expect((await grep({ head_limit: 2, offset: 1 })).slice(0, 2)).toEqual(['a.txt:2:x', 'a.txt:3:x'])
})

it('cuts long lines and long results', async () => {
  const { call } = useFolder({ 'a.txt': `${'x'.repeat(100_000)}\n`, 'b.txt': `${'y'.repeat(400)}\n`.repeat(1000) })
  const line = (await call('Grep', { pattern: 'x', output_mode: 'content' })).text
  expect(line.length).toBeLessThan(700)
  const all = (await call('Grep', { pattern: 'y', output_mode: 'content', head_limit: 0 })).text
  expect(all.length).toBeLessThan(50 * 1024)
  expect(all).toMatch(/\(there are more: use offset=\d+\)$/)
})

it.each(['-e', '--pre=sh', '-', '$&', '\\$HOME', '--'])('takes %s as a pattern', async (pattern) => {
  const text = pattern === '\\$HOME' ? '$HOME' : pattern
  expect(await found({ pattern }, { 'a.txt': `${text.replace('$&', '')}\n${text}` })).toMatch(/a\.txt|No matches/)
})

describe('refuses', () => {
  it.each([
    [{ pattern: '(' }, 'unclosed group'],
    [{ pattern: 'x', type: 'klingon' }, 'klingon'],
    [{ pattern: 'x', path: '../root-not' }, 'outside of the working directory'],
    [{ pattern: 'x', path: 'none' }, 'does not exist'],
    [{ pattern: 'x\0' }, 'null character'],
  ])('%j', async (args, says) => {
    const { text, isError } = await useFolder({ 'a.txt': 'x' }).call('Grep', args)
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(says) })
  })

  it('a search where the program is missing, with what to do', async () => {
    await expect(ripgrepPath(() => Promise.reject(new Error('Could not find')))).rejects.toThrow(
      /npm install @vscode\/ripgrep.*Use Glob and Read/,
    )
  })
})

describe('shows nothing of', () => {
  it('protected files, even if they are named', async () => {
    const { call } = useFolder({ '.env': SECRET, 'sub/.git/config': SECRET, 'sub/id_rsa': SECRET, 'a.txt': SECRET })
    for (const args of [{}, { glob: '.env' }, { glob: '**/id_rsa' }, { glob: '.git/**' }, { path: 'sub' }]) {
      for (const output_mode of ['content', 'count', 'files_with_matches']) {
        const { text } = await call('Grep', { pattern: 'secret', output_mode, ...args })
        expect(text).toMatch(/^a\.txt|^No matches found$/)
        expect(text).not.toMatch(/\.env|\.git|id_rsa/)
      }
    }
    for (const path of ['.env', 'sub/.git']) {
      expect((await call('Grep', { pattern: 'secret', path })).isError).toBe(true)
    }
  })

  it('files that permission rules forbid the session to read', async () => {
    const { tool, context, root } = useFolder({ 'a.txt': 'two', 'b.txt': 'two' })
    const mayRead = (path: string, folder?: string): boolean => folder === root && !path.endsWith('/a.txt')
    expect(await tool('Grep').execute({ pattern: 'two' }, { ...context(), mayRead })).toBe('b.txt')
  })

  it('what git ignores, and the targets of links', async () => {
    const { call, root, outside } = useFolder({ '.gitignore': '*.log\n', 'a.log': SECRET, 'node_modules/m.js': SECRET })
    symlinkSync(outside, join(root, 'link'))
    symlinkSync(join(outside, 'secret.txt'), join(root, 'linked.txt'))
    expect((await call('Grep', { pattern: 'secret' })).text).toBe('No matches found')
    for (const path of ['link', 'linked.txt']) {
      expect(await call('Grep', { pattern: 'secret', path })).toMatchObject({ isError: true })
    }
  })

  it('pipes, binary files and 3 GB of zeros, without waiting for them', async () => {
    const { call, root } = useFolder({ 'a.bin': Buffer.from('\0two\0'), 'b.txt': 'two' })
    execFileSync('mkfifo', [join(root, 'pipe')])
    writeFileSync(join(root, 'sparse'), '')
    truncateSync(join(root, 'sparse'), 3 * 1024 ** 3)
    expect((await call('Grep', { pattern: 'two', output_mode: 'content' })).text).toBe('b.txt:1:two')
    for (const path of ['sparse', 'a.bin', 'pipe']) {
      expect((await call('Grep', { pattern: 'two', path })).isError, path).toBe(true)
    }
  })
})

it('says what it touches', async () => {
  const { tool, context, root } = useFolder(FILES)
  expect(await tool('Grep').touches?.({ pattern: 'two', path: 'src' }, context())).toEqual([
    { kind: 'read', path: join(root, 'src'), root },
  ])
})

it('ends together with its call', async () => {
  const { tool, context } = useFolder(FILES)
  const stopped = { ...context(), signal: AbortSignal.abort(new Error('cancelled')) }
  await expect(tool('Grep').execute({ pattern: 'two' }, stopped)).rejects.toThrow('cancelled')
})
