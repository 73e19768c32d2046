import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  type Daemon,
  type ProcessId,
  endProcess,
  findProcesses,
  identify,
  isAlive,
  self,
  startDaemon,
  tailOf,
} from '../../src/dev/processes.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stello-processes-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

it('knows a process by its start time, not by its pid alone', () => {
  expect(isAlive(self())).toBe(true)
  expect(isAlive({ pid: process.pid, started: 'long ago' })).toBe(false)
})

it('takes a record that names no process for a dead one, so that nobody signals a group, or everybody', () => {
  for (const pid of [-1, 0, -process.pid, 2 ** 30, Number.NaN]) {
    expect(isAlive({ pid } as ProcessId), `pid ${pid}`).toBe(false)
  }
})

it('never signals a process that only has the same pid as the intended one', async () => {
  const child = spawn('sleep', ['600'])
  await once(child, 'spawn')
  await endProcess({ pid: child.pid ?? 0, started: 'long ago' }, 'SIGKILL')
  expect(identify(child.pid ?? 0)).toBeDefined()
  child.kill('SIGKILL')
})

it('kills a process that does not end when it is asked to', async () => {
  const log = join(folder, 'log')
  const { id, ended } = await startDaemon('/bin/sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'], {
    log,
  })
  await expect.poll(() => tailOf(log)).toContain('ready')
  await endProcess(id, 'SIGTERM', 100)
  expect(isAlive(id)).toBe(false)
  await expect.poll(ended).toBe('was ended by SIGKILL')
})

it('finds a process by its arguments, and no shell that mentions them', async () => {
  const mark = join(folder, 'mark')
  // Neither process forks. A fork has the arguments of its parent until it calls exec, so it would be found too.
  const forever = 'setInterval(() => {}, 60_000)'
  const start = (...args: string[]): Promise<Daemon> =>
    startDaemon(process.execPath, ['-e', ...args], { log: join(folder, 'log') })
  const real = await start(forever, '--', '--file', mark)
  const shell = await start(`${forever} // --file ${mark}`)
  expect(findProcesses(['--file', mark])).toEqual([real.id])
  await Promise.all([real, shell].map(({ id }) => endProcess(id, 'SIGKILL')))
})

it('says why a program did not start', async () => {
  await expect(startDaemon(join(folder, 'none'), [], { log: join(folder, 'log') })).rejects.toThrow('ENOENT')
  expect(await readFile(join(folder, 'log'), 'utf8')).toBe('')
})
