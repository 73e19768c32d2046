import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withLock } from '../../src/dev/lock.ts'
import { self } from '../../src/dev/processes.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stello-lock-'))
  path = join(folder, 'start.lock')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

it('lets one in at a time, also when all have waited for the same dead holder', async () => {
  await writeFile(path, JSON.stringify({ pid: 999_999_999, started: '1', token: 'dead' }))
  let [inside, most, runs] = [0, 0, 0]
  await Promise.all(
    Array.from({ length: 20 }, () =>
      withLock(path, async () => {
        most = Math.max(most, ++inside)
        await nextTick()
        inside -= 1
        runs += 1
      }),
    ),
  )
  expect([most, runs]).toEqual([1, 20])
  await expect(readFile(path)).rejects.toThrow('ENOENT')
})

it('takes over from a holder whose pid now belongs to another process', async () => {
  await writeFile(path, JSON.stringify({ pid: process.pid, started: 'long ago', token: 'dead' }))
  expect(await withLock(path, async () => 'in')).toBe('in')
})

it('takes over a lock file that a power cut left empty', async () => {
  await writeFile(path, '')
  expect(await withLock(path, async () => 'in')).toBe('in')
})

it('gives up on a living holder with an error that names the holder and the file', async () => {
  await writeFile(path, JSON.stringify({ ...self(), token: 'alive' }))
  const lines: string[] = []
  const waiting = withLock(path, async () => 'in', { limitMs: 100, onProgress: (line) => lines.push(line) })
  await expect(waiting).rejects.toThrow(`${path} has been held by process ${process.pid}`)
  expect(lines[0]).toContain(`waiting for process ${process.pid}`)
})

it('is free again after the work failed', async () => {
  await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await withLock(path, async () => 'in')).toBe('in')
})
