/** Real processes whose loop stands still: which of them are ended, and what they say before. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { WatchedSettings } from '../../support/watched-process.ts'

const LIMIT_MS = 500
/** For a process that must live although the machine is busy. */
const LONGER_MS = 2000

interface Watched {
  child: ChildProcess
  /** What became of it, and what it wrote to standard error. */
  ended: Promise<{ end: number | string; said: string }>
}

function start(settings: Partial<WatchedSettings>, execArgv: string[] = []): Watched {
  const child = fork('test/support/watched-process.ts', [JSON.stringify({ limitMs: LIMIT_MS, ...settings })], {
    execArgv: ['--import', 'tsx', ...execArgv],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr?.on('data', (data: Buffer) => (said += data.toString()))
  const ended = once(child, 'close').then(([code, signal]) => ({ end: (signal ?? code) as number | string, said }))
  return { child, ended }
}

/** The time that a watchdog takes to end a process. */
const meanwhile = async (): Promise<void> => void (await start({ next: 'block', limitMs: LONGER_MS }).ended)

async function ping({ child }: Watched, text: string): Promise<unknown> {
  const answer = once(child, 'message')
  child.send(text)
  return (await answer)[0] as unknown
}

describe('a process whose loop stands still', () => {
  it('is killed, and says first which steps it had in hand', async () => {
    const { end, said } = await start({ next: 'block', steps: 2 }).ended
    expect(end).toBe('SIGKILL')
    expect(said).toMatch(/^stello: the event loop of process \d+ has stood still for 0.5 s\. /)
    expect(said).toContain('In hand: s-1/0/t1.0.1/1 ("tool 1\\n"), s-1/0/t1.0.2/1 ("tool 2\\n"). ')
    expect(said.trimEnd()).not.toContain('\n')
  })

  it('names no more than ten steps', async () => {
    const { said } = await start({ next: 'block', steps: 14 }).ended
    expect(said).toContain('s-1/0/t1.0.10/1 ("tool 10\\n"), 4 more. ')
  })

  it('counts steps beyond those it has a place for', async () => {
    const { said } = await start({ next: 'block', steps: 300 }).ended
    expect(said).toContain('s-1/0/t1.0.10/1 ("tool 10\\n"), 290 more. ')
  })

  it('is killed even if one of its two workers has stopped', async () => {
    expect(await start({ next: 'block', stopped: 1 }).ended).toMatchObject({ end: 'SIGKILL' })
  })

  it.each<[string, Partial<WatchedSettings>, string[]?]>([
    ['all of whose workers have stopped', { stopped: 2 }],
    ['that may stand still for ever', { limitMs: 0 }],
    ['that a debugger may hold', {}, ['--inspect=127.0.0.1:0']],
    ['for less than the limit', { limitMs: 600_000 }],
  ])('%s is left alone', async (_which, settings, execArgv) => {
    const { end } = await start({ next: 'block', blockMs: 4 * LIMIT_MS, ...settings }, execArgv).ended
    expect(end).toBe(7)
  })
})

it('a process that was stopped for longer than its loop may stand still goes on when it is continued', async () => {
  const watched = start({ next: 'answer', limitMs: LONGER_MS })
  await once(watched.child, 'message')
  watched.child.kill('SIGSTOP')
  await meanwhile()
  watched.child.kill('SIGCONT')
  expect(await ping(watched, 'still there?')).toBe('still there?')
  await meanwhile()
  expect(await ping(watched, 'and now?')).toBe('and now?')
})

it('a watchdog keeps no process alive', async () => {
  expect(await start({ next: 'end' }).ended).toEqual({ end: 0, said: '' })
})
