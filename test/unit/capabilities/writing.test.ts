/** Write and Edit as a model meets them, on real files. */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SECRET, useFolder, version } from './folders.ts'

describe('Write', () => {
  it('makes directories and files, and leaves nothing else behind', async () => {
    const { call, root } = useFolder()
    const { text, isError } = await call('Write', { file_path: 'new/deep/a.txt', content: 'A\n' })
    expect({ text, isError }).toEqual({
      text: version('^The file new/deep/a.txt has been written.\n\\[new/deep/a.txt: 1 lines'),
      isError: false,
    })
    expect(readFileSync(join(root, 'new/deep/a.txt'), 'utf8')).toBe('A\n')
    expect(readdirSync(join(root, 'new/deep'))).toEqual(['a.txt'])
  })

  it('replaces a file that was read, keeping its mode', async () => {
    const { call, root } = useFolder({ 'run.sh': 'old' })
    chmodSync(join(root, 'run.sh'), 0o750)
    await call('Read', { file_path: 'run.sh' })
    expect(await call('Write', { file_path: 'run.sh', content: 'new' })).toMatchObject({ isError: false })
    expect(readFileSync(join(root, 'run.sh'), 'utf8')).toBe('new')
    expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o750)
  })

  it('does the same if it is repeated, also over a temporary file that a crash or another program has left', async () => {
    const { tool, context, root, outside } = useFolder()
    const ctx = context()
    const prepared = createHash('sha256').update(ctx.idempotencyKey).digest('hex').slice(0, 16)
    symlinkSync(join(outside, 'secret.txt'), join(root, `.stello-${prepared}.tmp`))
    const args = { file_path: 'a.txt', content: 'A' }
    for (const again of [ctx, ctx, context()]) {
      expect(await tool('Write').execute(args, again)).toMatchObject({ success: true })
    }
    expect(readdirSync(root)).toEqual(['a.txt'])
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET)
  })

  it('refuses a text that leaves something out', async () => {
    const { call, root } = useFolder()
    expect(await call('Write', { file_path: 'a.ts', content: 'f()\n// ... rest of the code\n' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('leaves text out'),
    })
    expect(existsSync(join(root, 'a.ts'))).toBe(false)
  })
})

describe('a file that exists', () => {
  it('is changed only by a session that has read it, and only as it is now', async () => {
    const { call, root } = useFolder({ 'a.txt': 'one' })
    const write = (content: string) => call('Write', { file_path: 'a.txt', content })
    const edit = () => call('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' })
    for (const change of [() => write('x'), edit]) {
      expect(await change()).toMatchObject({ isError: true, text: 'File has not been read yet. Read it first.' })
    }
    await call('Read', { file_path: 'a.txt' })
    writeFileSync(join(root, 'a.txt'), 'one more')
    for (const change of [() => write('x'), edit]) {
      expect(await change()).toMatchObject({
        isError: true,
        text: expect.stringMatching(/modified since read.* Read it again/),
      })
    }
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one more')
    await call('Read', { file_path: './a.txt' })
    expect(await edit()).toMatchObject({ isError: false })
    expect(await write('three')).toMatchObject({ isError: false })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('three')
  })

  it('is not known from the text of another file, nor from a call that failed', async () => {
    const { call } = useFolder({ 'a.txt': 'one', 'b.txt': 'x\n[a.txt: 1 lines, version 7692c3ad3540]' })
    await call('Read', { file_path: 'b.txt' })
    await call('Read', { file_path: 'a.txt', offset: 9 })
    expect((await call('Write', { file_path: 'a.txt', content: 'x' })).text).toBe(
      'File has not been read yet. Read it first.',
    )
  })

  it('takes two edits of one round, one after the other', async () => {
    const { call, tool, context, root } = useFolder({ 'a.txt': 'one two' })
    await call('Read', { file_path: 'a.txt' })
    const ctx = context()
    const edit = (old_string: string, new_string: string) =>
      tool('Edit').execute({ file_path: 'a.txt', old_string, new_string }, { ...ctx, idempotencyKey: old_string })
    expect(await Promise.all([edit('one', '1'), edit('two', '2')])).toMatchObject([
      { success: true },
      { success: true },
    ])
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('1 2')
  })
})

describe('Edit', () => {
  it('shows the model the lines around the change, and people the difference', async () => {
    const { call } = useFolder({ 'a.txt': 'a\nb\nc\n' })
    await call('Read', { file_path: 'a.txt' })
    const { text, details } = await call('Edit', { file_path: 'a.txt', oldString: 'b', newString: 'B' })
    expect(text).toEqual(version('^The file a.txt has been updated.\n     1→a\n     2→B\n     3→c\n\\[a.txt: 3 lines'))
    expect(details).toMatchObject({ structuredPatch: [{ lines: [' a', '-b', '+B', ' c'] }] })
  })

  it.each([
    ['not found', { old_string: 'x', new_string: 'y' }, /was not found/],
    ['not unique', { old_string: 'aa', new_string: 'y' }, /found 2 times: add context .* or set replace_all/],
    ['no change', { old_string: 'b', new_string: 'b' }, /the same/],
    ['an empty text where there is one', { old_string: '', new_string: 'y' }, /is empty, but the file is not/],
  ])('says what is wrong: %s', async (_what, args, message) => {
    const { call, root } = useFolder({ 'a.txt': 'aaa b' })
    await call('Read', { file_path: 'a.txt' })
    expect(await call('Edit', { file_path: 'a.txt', ...args })).toMatchObject({
      isError: true,
      text: expect.stringMatching(message),
    })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('aaa b')
  })

  it('creates a file, and replaces all occurrences if it is told to', async () => {
    const { call, root } = useFolder()
    expect((await call('Edit', { file_path: 'a.txt', old_string: 'x', new_string: 'y' })).text).toContain(
      'does not exist',
    )
    await call('Edit', { file_path: 'a.txt', old_string: '', new_string: 'x, x' })
    await call('Edit', { file_path: 'a.txt', old_string: 'x', new_string: 'y', replace_all: true })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('y, y')
  })

  it.each(['$&', '$1', "$'", '$$', '\\n'])('writes %s as it is', async (new_string) => {
    const { call, root } = useFolder({ 'a.txt': '(old)' })
    await call('Read', { file_path: 'a.txt' })
    await call('Edit', { file_path: 'a.txt', old_string: 'old', new_string })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(`(${new_string})`)
  })

  it.each([
    ['line ends', 'a\r\nb\r\n', 'a\nb', 'a\nc', 'a\r\nc\r\n'],
    ['line ends that differ', 'a\r\nb\nc\n', 'b\nc', 'd\ne', 'a\r\nd\ne\n'],
    ['mark of byte order', '\uFEFFa', 'a', 'b', '\uFEFFb'],
  ])('keeps the file’s own %s', async (_what, before, old_string, new_string, after) => {
    const { call, root } = useFolder({ 'a.txt': before })
    await call('Read', { file_path: 'a.txt' })
    expect(await call('Edit', { file_path: 'a.txt', old_string, new_string })).toMatchObject({ isError: false })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(after)
  })

  it('refuses a file that it could not write back as it was', async () => {
    const { call } = useFolder({
      'latin.txt': Buffer.from('caf\xe9', 'latin1'),
      'utf16.txt': Buffer.from('\uFEFFa', 'utf16le'),
    })
    for (const file_path of ['latin.txt', 'utf16.txt']) {
      await call('Read', { file_path })
      expect(await call('Edit', { file_path, old_string: 'a', new_string: 'b' })).toMatchObject({
        isError: true,
        text: expect.stringContaining('no UTF-8 text'),
      })
    }
  })
})

describe('an edit whose end nobody knows', () => {
  const args = { file_path: 'a.txt', old_string: 'one', new_string: 'two' }
  it.each([
    ['happened', '(two)', { happened: true, result: expect.stringContaining('a.txt holds the new text') as string }],
    ['did not', '(one)', { happened: false }],
    ['cannot be known', '(one two)', undefined],
    ['cannot be known of a text it was not unique in', '(one one two)', undefined],
    ['is beside the point', '(three)', undefined],
  ])('%s', async (_what, content, found) => {
    const { tool, context } = useFolder({ 'a.txt': content })
    expect(await tool('Edit').verify?.(args, context())).toEqual(found)
  })

  it('of a file with other line ends is found out as well', async () => {
    const { tool, context } = useFolder({ 'a.txt': 'a\r\nb\r\n' })
    const change = { file_path: 'a.txt', old_string: 'a\nc', new_string: 'a\nb' }
    expect(await tool('Edit').verify?.(change, context())).toMatchObject({ happened: true })
  })

  it.each([
    ['that extends the text', 'one', 'one one'],
    ['to what is there elsewhere too', 'one', 'two'],
    ['that removes a part', ' one', ''],
  ])('%s is known to have happened by the version that was read before it', async (_what, old_string, new_string) => {
    const { call, tool, context, root } = useFolder({ 'a.txt': 'two one\r\ntwo\r\n' })
    await call('Read', { file_path: 'a.txt' })
    const before = context()
    const change = { file_path: 'a.txt', old_string, new_string }
    const values = new Map<string, unknown>()
    const lost = { ...before.values, set: (name: string, value: unknown) => void values.set(name, value) }
    await tool('Edit').execute(change, { ...before, values: lost })
    const made = readFileSync(join(root, 'a.txt'), 'utf8')
    expect(made).toBe('two one\r\ntwo\r\n'.replace(old_string, new_string))
    expect(await tool('Edit').verify?.(change, before)).toMatchObject({ happened: true })
    expect(await call('Write', { file_path: 'a.txt', content: 'x' })).toMatchObject({ isError: false })
  })
})
