/**
 * Runs one program in a process group of its own, and ends all of it: by SIGTERM, then SIGKILL. It is over when the
 * program has ended, also where something that it started still holds its output open.
 */
import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { endMarked, MARK } from './marked-processes.ts'

export interface ProcessRun {
  /** The program and its arguments. */
  argv: readonly string[]
  cwd: string
  /** All of its environment. */
  env: Readonly<Record<string, string>>
  /** Marks all of its processes. */
  id: string
  timeoutMs: number
  /** Ends it. */
  signal: AbortSignal
  /** Both outputs, in order. A promise holds the program up. */
  onOutput(bytes: Buffer): Promise<void> | undefined
}

export interface ProcessEnd {
  /** Unset when a signal ended it. */
  exitCode?: number
  signal?: string
  /** Why it was ended. Unset: it ended by itself. */
  stopped?: 'timeout' | 'killed'
  /** What it wrote to its descriptor 3. */
  said: string
}

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 2000
/** Milliseconds to read output that was written before the end. */
const DRAIN_MS = 250

/** @throws Error when the program cannot be started */
export async function runProcess({ argv, cwd, env, id, timeoutMs, signal, onOutput }: ProcessRun): Promise<ProcessEnd> {
  const [program = '', ...args] = argv
  const child = spawn(program, args, {
    cwd,
    env: { ...env, [MARK]: id },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const ended = new Promise<{ code: number | null; by: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, by) => resolve({ code, by }))
  })
  let said = ''
  const outputs = child.stdio.slice(1) as Readable[]
  const [stdout, stderr, answers] = outputs
  answers?.on('data', (bytes: Buffer) => (said = (said + bytes.toString()).slice(0, 10_000)))
  for (const output of [stdout, stderr]) output?.on('data', (bytes: Buffer) => holdUp(output, onOutput(bytes)))
  const closed = Promise.all(outputs.map((output) => new Promise((resolve) => output.once('close', resolve))))

  let stopped: ProcessEnd['stopped']
  let kill: NodeJS.Timeout | undefined
  const stop = (why: 'timeout' | 'killed'): void => {
    if (stopped) return
    stopped = why
    signalGroup(child.pid, 'SIGTERM')
    kill = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), GRACE_MS)
  }
  const onAbort = (): void => stop('killed')
  const timer = setTimeout(() => stop('timeout'), timeoutMs)
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    const { code, by } = await ended
    signalGroup(child.pid, 'SIGKILL')
    await endMarked(id)
    await within(DRAIN_MS, closed)
    return {
      ...(code !== null && { exitCode: code }),
      ...(by !== null && { signal: by }),
      ...(stopped && { stopped }),
      said,
    }
  } finally {
    clearTimeout(timer)
    clearTimeout(kill)
    signal.removeEventListener('abort', onAbort)
    for (const output of outputs) output.destroy()
  }
}

function holdUp(output: Readable, written: Promise<void> | undefined): void {
  if (!written) return
  output.pause()
  void written.finally(() => output.resume())
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody is left in the group.
  }
}

async function within(ms: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}
