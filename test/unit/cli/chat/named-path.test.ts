/** The path behind an `@`, and what it may become. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EMPTY_EDITOR, typed, type Editor } from '../../../../src/cli/chat/editor.ts'
import { pathBefore, withPath } from '../../../../src/cli/chat/named-path.ts'
import { commonBegin, pathsFrom } from '../../../../src/cli/chat/path-completion.ts'

const line = (text: string): Editor => typed(EMPTY_EDITOR, text)

it.each([
  ['see @src/a', 'src/a'],
  ['@', ''],
  ['see @"my fi', 'my fi'],
  ['a@b', undefined],
  ['see @a.ts ', undefined],
])('in "%s", the path is %j', (text, path) => {
  expect(pathBefore(line(text))).toBe(path)
})

it('another path takes its place, quoted where it has spaces; what stands behind the cursor stays', () => {
  expect(withPath(line('see @sr'), 'src/', false).text).toBe('see @src/')
  expect(withPath(line('see @my'), 'my file.md', true).text).toBe('see @"my file.md" ')
  expect(withPath({ ...line('@a and more'), cursor: 2 }, 'a.ts', true)).toMatchObject({
    text: '@a.ts  and more',
    cursor: 6,
  })
})

it('files and folders that begin so are found; hidden ones only by their dot; a folder that is not there has none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stello-paths-'))
  await mkdir(join(folder, 'src', 'maps'), { recursive: true })
  for (const name of ['src/main.ts', 'src/other.ts', '.hidden']) await writeFile(join(folder, name), '')
  expect(await pathsFrom('src/ma', folder)).toEqual(['src/main.ts', 'src/maps/'])
  expect(await pathsFrom('', folder)).toEqual(['src/'])
  expect(await pathsFrom('./.h', folder)).toEqual(['./.hidden'])
  expect(await pathsFrom('nowhere/x', folder)).toEqual([])
  expect(commonBegin(['src/main.ts', 'src/maps/'])).toBe('src/ma')
})
