/** Files that go with a message. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FILE_LIMIT, withFiles } from '../../../../src/cli/chat/attached-files.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stello-files-'))
  await writeFile(join(folder, 'a.md'), 'one\n```\ntwo\n```\n')
  await writeFile(join(folder, 'with space.txt'), 'spaced')
  await writeFile(join(folder, 'big.txt'), 'x'.repeat(FILE_LIMIT + 1))
  await writeFile(join(folder, 'picture.png'), Buffer.from([0x89, 0x50, 0xff, 0x00]))
  await writeFile(join(folder, 'zero.bin'), 'a\0b')
})
afterAll(() => rm(folder, { recursive: true }))

it('goes behind the message, once, in a fence that it cannot close', async () => {
  expect(await withFiles('what is @a.md and @a.md', folder)).toBe(
    'what is @a.md and @a.md\n\na.md:\n````\none\n```\ntwo\n```\n````',
  )
  expect(await withFiles('see @"with space.txt"', folder)).toContain('spaced')
})

it('a word that is no file stays as it is', async () => {
  for (const text of ['ask @anna', 'mail a@b.example', 'use @temporalio/client'])
    expect(await withFiles(text, folder)).toBe(text)
})

it.each([
  ['big.txt', /at most 262144/],
  ['picture.png', /binary/],
  ['zero.bin', /binary/],
  ['.', /it is no file/],
])('%s is refused, so that nothing is sent', async (name, why) => {
  await expect(withFiles(`see @${name}`, folder)).rejects.toThrow(why)
})
