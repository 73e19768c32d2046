/** The pack of knowledge on a real PostgreSQL and real files. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { knowledge, type KnowledgePack } from '../../src/capabilities/index.ts'
import { normalizeResult } from '../../src/tool/result.ts'
import { testContext } from '../unit/capabilities/test-context.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase({ empty: true })

function useDocuments(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'stello-knowledge-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const write = (path: string, text: string): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const collection = randomBytes(4).toString('hex')
  const open = (): KnowledgePack => {
    const pack = knowledge({ folder, collection, connectionString: at.url })
    onTestFinished(() => pack.close?.())
    return pack
  }
  return { folder, write, open }
}

async function call(pack: KnowledgePack, name: string, args: unknown) {
  const tool = pack.tools.find((one) => one.name === name)
  const checked = tool?.check(args)
  if (!checked?.ok) return { text: checked?.problem ?? '', isError: true }
  const { content, isError } = normalizeResult(await tool?.execute(checked.value, testContext()))
  return { text: content, isError }
}

it('documents are found by their words, best first, and can be read from the place that was found', async () => {
  const { open } = useDocuments({
    'boats.md': '# Boats\n\nA dinghy is a small boat.\n\n# Sails\n\nA jib is a sail.',
    'cars/motor.txt': 'A motor drives the car.',
  })
  const pack = open()
  expect(await pack.index()).toEqual({ indexed: 2, unchanged: 0, removed: 0 })
  const found = await call(pack, 'KnowledgeSearch', { query: 'small boats' })
  expect(found.text).toContain('boats.md:1\n')
  expect(found.text).toContain('**small** **boat**')
  const both = (await call(pack, 'KnowledgeSearch', { query: 'jib motor' })).text
  expect([both.includes('boats.md:5\n'), both.includes('cars/motor.txt:1\n')]).toEqual([true, true])
  expect((await call(pack, 'KnowledgeSearch', { query: 'boat -dinghy' })).text).not.toContain('dinghy')
  expect((await call(pack, 'KnowledgeSearch', { query: '"car drives"' })).text).toBe(
    'No document has any of these words.',
  )
  expect(await call(pack, 'KnowledgeRead', { path: 'boats.md', offset: 3, limit: 1 })).toEqual({
    text: 'A dinghy is a small boat.\n[lines 3-3 of 7: go on with offset 4]',
    isError: false,
  })
  expect(await call(pack, 'KnowledgeRead', { path: '../boats.md' })).toMatchObject({ isError: true })
  expect(await call(pack, 'KnowledgeRead', { path: 'boats.md', offset: 99 })).toMatchObject({ isError: true })
})

it('only what has changed is indexed again, and what is gone is forgotten', async () => {
  const { open, write, folder } = useDocuments({ 'a.md': 'alpha', 'b.md': 'beta', 'c.md': 'gamma' })
  const pack = open()
  await pack.index()
  write('b.md', 'delta')
  rmSync(join(folder, 'c.md'))
  expect(await pack.index()).toEqual({ indexed: 1, unchanged: 1, removed: 1 })
  expect((await call(pack, 'KnowledgeSearch', { query: 'delta' })).text).toContain('b.md:1')
  for (const query of ['beta', 'gamma']) {
    expect((await call(pack, 'KnowledgeSearch', { query })).text).toBe('No document has any of these words.')
  }
})

it('two workers that index at once do the work once', async () => {
  const { open } = useDocuments({ 'a.md': 'alpha', 'b.md': 'beta' })
  const done = await Promise.all([open().index(), open().index()])
  expect(done.map(({ indexed }) => indexed).toSorted((a, b) => a - b)).toEqual([0, 2])
})

it('binary, linked and hidden files are left out; a missing folder keeps the worker from starting', async () => {
  const { open, write, folder } = useDocuments({ 'a.md': 'alpha', 'bytes.md': 'a\0b', '.hidden/b.md': 'beta' })
  write('../secret.md', 'secret')
  onTestFinished(() => rmSync(join(folder, '../secret.md'), { force: true }))
  symlinkSync(join(folder, '../secret.md'), join(folder, 'link.md'))
  const pack = open()
  expect(await pack.index()).toEqual({ indexed: 1, unchanged: 0, removed: 0 })
  rmSync(folder, { recursive: true })
  await expect(pack.open?.()).rejects.toThrow('ENOENT')
})
