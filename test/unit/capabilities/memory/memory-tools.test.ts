/** MemoryRead and MemoryWrite as a model meets them, over real files. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FileSystemMemoryStore, memory, MemoryManager, type MemoryOptions } from '../../../../src/capabilities/index.ts'
import { normalizeResult } from '../../../../src/tool/result.ts'
import type { ToolContext } from '../../../../src/index.ts'
import { testContext } from '../test-context.ts'

const TONE = { name: 'tone', type: 'feedback', description: 'How to write', body: 'Short and plain.' }

function useMemory(options: Partial<MemoryOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stello-memory-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { tools } = memory({ memoryManager: new MemoryManager(new FileSystemMemoryStore(folder)), ...options })
  const call = async (name: string, args: unknown, of: Partial<ToolContext> = {}) => {
    const tool = tools.find((one) => one.name === name)
    const checked = tool?.check(args)
    if (!checked?.ok) return { text: checked?.problem ?? '', isError: true }
    const { content, isError } = normalizeResult(await tool?.execute(checked.value, testContext(of)))
    return { text: content, isError }
  }
  const read = (args: unknown, of?: Partial<ToolContext>) => call('MemoryRead', args, of)
  const write = (args: unknown, of?: Partial<ToolContext>) => call('MemoryWrite', args, of)
  return { folder, tools, read, write }
}

it('what was saved is listed, read, found and forgotten', async () => {
  const { read, write } = useMemory()
  expect(await read({ operation: 'index' })).toEqual({ text: 'There are no memories yet.', isError: false })
  expect(await write({ operation: 'save', ...TONE })).toEqual({ text: 'The memory "tone" is saved.', isError: false })
  expect(await read({ operation: 'index' })).toMatchObject({ text: '- tone (feedback): How to write' })
  const listed = JSON.parse((await read({ operation: 'list' })).text) as unknown
  expect(listed).toEqual([{ name: 'tone', type: 'feedback', description: 'How to write' }])
  expect((await read({ operation: 'get', name: 'tone' })).text).toContain('Short and plain.')
  expect((await read({ operation: 'search', query: 'PLAIN write' })).text).toContain('- tone')
  expect(await read({ operation: 'search', query: 'plain long' })).toMatchObject({
    text: 'No memory has all of these words.',
  })
  expect(await write({ operation: 'delete', name: 'tone' })).toMatchObject({ text: 'The memory "tone" is forgotten.' })
  expect(await write({ operation: 'delete', name: 'tone' })).toMatchObject({ isError: false })
  expect(await read({ operation: 'get', name: 'tone' })).toMatchObject({ isError: true })
})

it('a save leaves fields that it does not mention, and does no harm if it is repeated', async () => {
  const { read, write } = useMemory()
  await write({ operation: 'save', ...TONE })
  for (const again of [1, 2]) {
    expect((await write({ operation: 'save', name: 'tone', body: `Long${''.repeat(again)}.` })).text).toContain(
      'changed',
    )
  }
  expect((await read({ operation: 'get', name: 'tone' })).text).toBe('- tone (feedback): How to write\n\nLong.')
})

it('a combination of arguments without a meaning is refused, with what to give', async () => {
  const { read, write } = useMemory()
  expect(await read({ operation: 'get' })).toMatchObject({ isError: true, text: expect.stringContaining('needs name') })
  expect(await read({ operation: 'search', query: ' ' })).toMatchObject({ isError: true })
  expect(await write({ operation: 'save', name: 'new', body: 'x' })).toMatchObject({
    isError: true,
    text: 'There is no memory "new" yet: give description and body.',
  })
  for (const name of ['../tone', 'Tone', '', '.tone', 'a'.repeat(65)]) {
    expect(await write({ operation: 'save', ...TONE, name })).toMatchObject({ isError: true })
  }
})

it('each user has memories of their own, and sessions without a user have others', async () => {
  const { read, write } = useMemory()
  await write({ operation: 'save', ...TONE }, { userId: 'alice' })
  for (const of of [{ userId: 'bob' }, {}]) {
    expect(await read({ operation: 'index' }, of)).toMatchObject({ text: 'There are no memories yet.' })
  }
  expect((await read({ operation: 'index' }, { userId: 'alice' })).text).toContain('tone')
})

it('a space that is no name of a folder is refused', async () => {
  const { write, folder } = useMemory({ space: () => '../outside' })
  await expect(write({ operation: 'save', ...TONE })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(() => readFileSync(join(folder, '../outside/tone.md'))).toThrow('ENOENT')
})

it('people may write memories by hand, also without the facts at the beginning', async () => {
  const { folder, read, write } = useMemory({ space: () => 'team' })
  await write({ operation: 'save', ...TONE })
  expect(readFileSync(join(folder, 'team/tone.md'), 'utf8')).toBe(
    '---\ndescription: How to write\ntype: feedback\n---\nShort and plain.',
  )
  writeFileSync(join(folder, 'team/by-hand.md'), 'Written by hand')
  expect((await read({ operation: 'get', name: 'by-hand' })).text).toContain('Written by hand')
})
