/** Read and Glob as a model meets them, on real files. */
import { mkdirSync, symlinkSync, truncateSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder, version } from './folders.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

it('the pack has six tools, and their kinds and effects say what may be repeated', () => {
  const { tool } = useFolder()
  const facts = ['Read', 'Write', 'Edit', 'Glob', 'Grep', 'NotebookEdit'].map((name) => {
    return [name, tool(name).kind, tool(name).effect, tool(name).ordered ?? false]
  })
  expect(facts).toEqual([
    ['Read', 'readonly', 'pure', false],
    ['Write', 'write', 'idempotent', true],
    ['Edit', 'write', 'non_idempotent', true],
    ['Glob', 'readonly', 'pure', false],
    ['Grep', 'readonly', 'pure', false],
    ['NotebookEdit', 'write', 'non_idempotent', true],
  ])
})

describe('Read', () => {
  it('numbers the lines, and says how many there are', async () => {
    const { call } = useFolder({ 'a.txt': 'one\r\ntwo\n\nfour' })
    const { text, isError } = await call('Read', { filePath: 'a.txt' })
    expect({ text, isError }).toEqual({
      text: version('     1→one\n     2→two\n     3→\n     4→four\n\\[a.txt: lines 1-4 of 4'),
      isError: false,
    })
  })

  it('goes on from the given line, counted from 1; 0 is taken for 1', async () => {
    const { call } = useFolder({ 'a.txt': 'one\ntwo\nthree\n' })
    expect((await call('Read', { file_path: 'a.txt', offset: 2, limit: 1 })).text).toEqual(
      version('^     2→two\n\\[a.txt: lines 2-2 of 3, use offset=3 to read on'),
    )
    expect((await call('Read', { file_path: 'a.txt', offset: 0, limit: 1 })).text).toMatch(/^ {5}1→one\n/)
    expect(await call('Read', { file_path: 'a.txt', offset: 4 })).toMatchObject({
      isError: true,
      text: 'offset 4 is behind the end: a.txt has 3 lines.',
    })
  })

  it('stops after 2000 lines, 48 Ki characters, and 2000 characters of a line', async () => {
    const { call } = useFolder({
      'long.txt': 'x\n'.repeat(5000),
      'wide.txt': `${'y'.repeat(1000)}\n`.repeat(100),
      'line.txt': `${'z'.repeat(100_000)}\nend`,
    })
    expect((await call('Read', { file_path: 'long.txt' })).text).toEqual(
      version('lines 1-2000 of 5000, use offset=2001 to read on'),
    )
    const wide = (await call('Read', { file_path: 'wide.txt' })).text
    expect(wide.length).toBeLessThan(50 * 1024)
    expect(wide).toEqual(version('lines 1-48 of 100, use offset=49 to read on'))
    expect((await call('Read', { file_path: 'line.txt' })).text).toMatch(/^ {5}1→z{2000}… \(line cut\)\n {5}2→end\n/)
  })

  it('reads the files of other programs: with byte order marks, with characters across chunks, empty ones', async () => {
    const { call } = useFolder({
      'bom.txt': '\uFEFFé',
      'le.txt': Buffer.from('\uFEFFé\n', 'utf16le'),
      // The 65,536th byte is the first of two.
      'umlauts.txt': `xxx${'ü\n'.repeat(30_000)}`,
      'empty.txt': '',
    })
    for (const file_path of ['bom.txt', 'le.txt']) {
      expect((await call('Read', { file_path })).text).toMatch(/^ {5}1→é\n/)
    }
    expect((await call('Read', { file_path: 'umlauts.txt', offset: 21_840, limit: 20 })).text).not.toContain('\uFFFD')
    expect((await call('Read', { file_path: 'empty.txt' })).text).toMatch(/^The file is empty\.\n/)
  })

  it('shows pictures by their content, and refuses what else is binary', async () => {
    const { call, tool, context } = useFolder({
      'picture.txt': PNG,
      'a.bin': Buffer.from([0, 1, 2, 0]),
      'a.pdf': '%PDF-1.7\n',
    })
    expect(await tool('Read').execute({ file_path: 'picture.txt' }, context())).toEqual({
      content: [{ type: 'image', mimeType: 'image/png', data: PNG.toString('base64') }],
    })
    for (const file_path of ['a.bin', 'a.pdf']) {
      expect(await call('Read', { file_path })).toMatchObject({
        isError: true,
        text: expect.stringContaining('binary'),
      })
    }
  })

  it('refuses 3 GB as a whole', async () => {
    const { call, root } = useFolder({ 'sparse.txt': 'one\ntwo\n' })
    truncateSync(join(root, 'sparse.txt'), 3 * 1024 ** 3)
    expect(await call('Read', { file_path: 'sparse.txt' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('larger than 256 MiB: give offset and limit'),
    })
  })

  it('lists a directory, and suggests names that are similar to a missing one', async () => {
    const { call } = useFolder({ 'src/main.ts': '', 'src/main.test.ts': '', 'src/deep/x': '' })
    expect((await call('Read', { file_path: 'src' })).text).toBe('Directory src:\ndeep/\nmain.test.ts\nmain.ts')
    expect(await call('Read', { file_path: 'src/main.js' })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^File not found: src\/main\.js\. Did you mean .*main\.ts/),
    })
    expect((await call('Read', { file_path: 'none/x' })).text).toBe('File not found: none/x.')
  })
})

describe('Glob', () => {
  const names = (text: string): string[] => text.split('\n')

  it('puts what changed last first', async () => {
    const { call, root } = useFolder({ 'a.ts': '', 'src/b.ts': '', 'src/c.js': '', '.hidden.ts': '' })
    for (const [at, name] of ['src/b.ts', '.hidden.ts', 'a.ts'].entries()) utimesSync(join(root, name), 0, 1000 - at)
    expect(names((await call('Glob', { pattern: '**/*.ts' })).text)).toEqual(['src/b.ts', '.hidden.ts', 'a.ts'])
    expect((await call('Glob', { pattern: '*.{js,css}', path: 'src' })).text).toBe('src/c.js')
    expect((await call('Glob', { pattern: '*.JS', path: 'src', case_sensitive: false })).text).toBe('src/c.js')
    expect((await call('Glob', { pattern: '*.py' })).text).toBe('No files found.')
  })

  it('leaves out what git ignores, each rule below its own folder', async () => {
    const { call } = useFolder({
      '.gitignore': '*.log\n/build/\n',
      'a.log': '',
      'build/x.txt': '',
      'src/build/x.txt': '',
      'src/.gitignore': '!keep.log\nsecret.txt\n',
      'src/keep.log': '',
      'src/drop.log': '',
      'src/secret.txt': '',
      'secret.txt': '',
      'node_modules/m/x.txt': '',
      '.git/x.txt': '',
      'src/.stello-0123.tmp': 'what a crash left behind',
    })
    const found = names((await call('Glob', { pattern: '**/*.{txt,log,tmp}' })).text)
    expect(found.toSorted()).toEqual(['secret.txt', 'src/build/x.txt', 'src/keep.log'])
    expect((await call('Glob', { pattern: '*.log', path: 'src' })).text).toBe('src/keep.log')
  })

  it('says how many more there are', async () => {
    const { call } = useFolder(Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`f${n}`, ''])))
    expect(names((await call('Glob', { pattern: 'f*' })).text)).toHaveLength(101)
    expect((await call('Glob', { pattern: 'f*', max_results: 3 })).text).toMatch(/\(truncated, 117 more\)$/)
  })

  it('enters no linked directory, and names directories only if it is asked to', async () => {
    const { call, root } = useFolder({ 'src/a.ts': '' })
    mkdirSync(join(root, 'src/empty'))
    symlinkSync('src', join(root, 'linked'))
    expect((await call('Glob', { pattern: '**/*.ts' })).text).toBe('src/a.ts')
    const { text } = await call('Glob', { pattern: 'src/*', include_directories: true })
    expect(
      names(text)
        .map((name) => name.replace(/\/$/, ''))
        .toSorted(),
    ).toEqual(['src/a.ts', 'src/empty'])
  })

  it('refuses a pattern that leads elsewhere', async () => {
    const { call } = useFolder()
    for (const pattern of ['../*', '/etc/*', '{a,/etc}/*', 'a/../../*']) {
      expect(await call('Glob', { pattern })).toMatchObject({
        isError: true,
        text: expect.stringContaining('must be relative'),
      })
    }
  })
})
