/**
 * A folder is replaced by a link between the check and the work: nothing outside is read, written or listed. Needs
 * Linux, like all tests, because only Linux can hold a folder open.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { locate, type Place } from '../../../src/capabilities/filesystem/locate.ts'
import { withFile } from '../../../src/capabilities/filesystem/open-file.ts'
import { atFile, inFolder } from '../../../src/capabilities/filesystem/open-folder.ts'
import { replaceFile } from '../../../src/capabilities/filesystem/replace-file.ts'
import type { SessionContext } from '../../../src/index.ts'
import { SECRET, useFolder, type Folder } from './folders.ts'

const session: SessionContext = { sessionId: 's-1', rootId: 's-1', depth: 0, signal: new AbortController().signal }

/** A place that was located before its folder, or a folder above it, became a link to the outside. */
async function swapped(part: 'deep' | 'deep/er'): Promise<Folder & { place: Place }> {
  const folder = useFolder({ 'deep/er/secret.txt': 'mine' })
  mkdirSync(join(folder.outside, 'er'))
  writeFileSync(join(folder.outside, 'er/secret.txt'), SECRET)
  const place = await locate({ root: folder.root }, { session, given: 'deep/er/secret.txt' })
  renameSync(join(folder.root, part), join(folder.root, 'away'))
  symlinkSync(part === 'deep' ? folder.outside : join(folder.outside, 'er'), join(folder.root, part))
  return { ...folder, place }
}

const intact = (outside: string): void => {
  expect(new Set<unknown>(readdirSync(outside, { recursive: true }))).toEqual(
    new Set(['er', 'er/secret.txt', 'secret.txt']),
  )
  expect(readFileSync(join(outside, 'er/secret.txt'), 'utf8')).toBe(SECRET)
}

it.each(['deep', 'deep/er'] as const)('%s became a link: its target is not read', async (part) => {
  const { place } = await swapped(part)
  await expect(withFile(place, (file) => file.readFile('utf8'))).rejects.toThrow(/ENOTDIR|ELOOP/)
})

it.each(['deep', 'deep/er'] as const)('%s became a link: nothing is written to its target', async (part) => {
  const { place, outside } = await swapped(part)
  for (const before of [undefined, '0'.repeat(12)]) {
    const replaced = replaceFile(place, { bytes: Buffer.from('broken'), before, idempotencyKey: 'k' })
    await expect(replaced).rejects.toThrow(/ENOTDIR|ELOOP/)
  }
  const below = { ...place, path: join(place.path, '../new/new.txt') }
  await expect(replaceFile(below, { bytes: Buffer.from(''), before: undefined, idempotencyKey: 'k' })).rejects.toThrow()
  intact(outside)
})

it.each(['deep', 'deep/er'] as const)('%s became a link: its target is not listed', async (part) => {
  const { root } = await swapped(part)
  const listing = inFolder({ root, path: join(root, 'deep/er') }, async (folder) => readdirSync(folder))
  await expect(listing).rejects.toThrow(/ENOTDIR|ELOOP/)
})

it('the folder is replaced during the work: the work goes on in the folder that was opened', async () => {
  const { root, outside } = useFolder({ 'deep/a.txt': 'A' })
  await atFile({ root, path: join(root, 'deep/a.txt') }, async (path) => {
    renameSync(join(root, 'deep'), join(root, 'away'))
    symlinkSync(outside, join(root, 'deep'))
    writeFileSync(path, 'B')
  })
  expect(readFileSync(join(root, 'away/a.txt'), 'utf8')).toBe('B')
  expect(existsSync(join(outside, 'a.txt'))).toBe(false)
})

it('a program replaces the folder without end: 3,000 calls and more get nothing of the outside', async () => {
  const folder = useFolder({ 'deep/secret.txt': 'mine' })
  const { root, outside, call } = folder
  const swaps = new Worker(new URL('./swapping.mjs', import.meta.url), {
    workerData: [join(root, 'deep'), join(root, 'aside'), outside],
  })
  onTestFinished(async () => void (await swaps.terminate()))
  await once(swaps, 'message')
  writeFileSync(join(outside, 'only-outside.txt'), '')
  const heard: string[] = []
  // If the program were always faster, this would show nothing: some call has to meet the folder as it was.
  for (let n = 0; n < 1000 || (n < 20_000 && !heard.some((text) => text.includes('mine'))); n++) {
    heard.push((await call('Read', { file_path: 'deep/secret.txt' })).text)
    heard.push((await call('Read', { file_path: 'deep' })).text)
    heard.push((await call('Write', { file_path: `deep/new-${n}.txt`, content: 'x' })).text)
  }
  await swaps.terminate()
  expect(heard.filter((text) => text.includes(SECRET) || text.includes('only-outside'))).toEqual([])
  expect(readdirSync(outside).toSorted()).toEqual(['only-outside.txt', 'secret.txt'])
  expect(heard.some((text) => text.includes('mine'))).toBe(true)
  rmSync(join(root, 'aside'), { recursive: true, force: true })
}, 60_000)
