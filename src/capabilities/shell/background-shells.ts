/**
 * Shells in the background. Each has a keeper, a process of its own that outlives the worker, and a folder: `start.json`
 * says what to run, the keeper adds `keeper.json`, `log` and, when all is over, `exit.json`. So every process of the host
 * that may read the folder knows the shell, and may end it.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { endMarked } from './marked-processes.ts'
import { startOf } from './process-start.ts'
import { keepNewest } from './shell-state.ts'

export interface ShellStart {
  argv: readonly string[]
  cwd: string
  timeoutMs: number
}

/** The keeper, recognised also when its pid is used again. */
export interface Keeper {
  pid: number
  started: string
}

export interface ShellExit {
  exitCode?: number
  signal?: string
  stopped?: 'timeout' | 'killed'
  /** The program could not be run. */
  problem?: string
}

export type ShellStatus = 'running' | 'completed' | 'failed' | 'killed' | 'lost'

export interface Shell {
  status: ShellStatus
  pid?: number
  exit?: ShellExit
}

/** How many shells of one working folder run at once. */
export const MOST_SHELLS = 16
/** How many ended shells are kept, so that their output can still be read. */
const ENDED_KEPT = 50
const POLL_MS = 100
const START_MS = 30_000
/** How long the keeper has to end its shell, milliseconds. */
const END_MS = 10_000

/**
 * Starts a shell, once: a shell that was started before is left as it is.
 *
 * @param folder of the shell, in the folder of all shells
 * @throws Error when it does not start
 */
export async function startShell(
  folder: string,
  start: ShellStart,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (!existsSync(join(folder, 'keeper.json'))) {
    await writeJson(join(folder, 'start.json'), start)
    const [program = '', ...args] = keeperCommand()
    spawn(program, [...args, folder], { env, stdio: 'ignore', detached: true, cwd: '/' })
      .on('error', () => undefined)
      .unref()
  }
  const until = Date.now() + START_MS
  while (!existsSync(join(folder, 'keeper.json'))) {
    if (Date.now() > until) throw new Error('the shell did not start: its keeper, a Node process, did not come up')
    await delay(POLL_MS)
  }
}

/** How many shells run. Removes old folders, to make room for another. */
export async function runningShells(shells: string): Promise<number> {
  await keepNewest(shells, ENDED_KEPT, async (path) => (await lookAtShell(path))?.status !== 'running')
  const all = await Promise.all((await readdir(shells)).map((id) => lookAtShell(join(shells, id))))
  return all.filter((shell) => shell?.status === 'running').length
}

/** @returns undefined when there is no such shell */
export async function lookAtShell(folder: string): Promise<Shell | undefined> {
  const keeper = await readJson<Keeper>(join(folder, 'keeper.json'))
  if (!keeper) return undefined
  const { pid } = keeper
  const started = startOf(pid)
  const alive = started !== undefined && started === keeper.started
  // Asked after the keeper: it writes this before it ends.
  const exit = await readJson<ShellExit>(join(folder, 'exit.json'))
  if (!exit) return alive ? { status: 'running', pid } : { status: 'lost', pid }
  if (exit.stopped === 'killed') return { status: 'killed', pid, exit }
  return { status: exit.exitCode === 0 && !exit.stopped ? 'completed' : 'failed', pid, exit }
}

/** Waits until a shell has ended, but not longer than the given time. */
export async function awaitShell(folder: string, timeoutMs: number, signal?: AbortSignal): Promise<Shell | undefined> {
  const until = Date.now() + timeoutMs
  for (;;) {
    const shell = await lookAtShell(folder)
    const left = until - Date.now()
    if (shell?.status !== 'running' || left <= 0) return shell
    await delay(Math.min(POLL_MS, left), undefined, { signal })
  }
}

/** Ends a shell and all that it runs. One that has ended is left as it is. */
export async function endShell(folder: string): Promise<Shell | undefined> {
  const shell = await lookAtShell(folder)
  if (shell?.status !== 'running' || shell.pid === undefined) return shell
  signalProcess(shell.pid, 'SIGTERM')
  const ended = await awaitShell(folder, END_MS)
  if (ended?.status !== 'running') return ended
  signalProcess(shell.pid, 'SIGKILL')
  await endMarked(basename(folder))
  return awaitShell(folder, END_MS)
}

/** Output of a shell from a position on, at most `limit` bytes of each end. */
export async function readLog(folder: string, from: number, limit: number): Promise<{ bytes: Buffer[]; size: number }> {
  const path = join(folder, 'log')
  const size = (await stat(path).catch(() => undefined))?.size ?? 0
  if (size <= from) return { bytes: [], size }
  const file = await open(path)
  try {
    const read = async (start: number, end: number): Promise<Buffer> => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
      return buffer.subarray(0, bytesRead)
    }
    if (size - from <= 2 * limit) return { bytes: [await read(from, size)], size }
    return { bytes: [await read(from, from + limit), await read(size - limit, size)], size }
  } finally {
    await file.close()
  }
}

/** Written in one step, so that nobody reads half of it. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  const prepared = `${path}.${randomUUID()}.tmp`
  await writeFile(prepared, JSON.stringify(value), { mode: 0o600 })
  await rename(prepared, path)
}

export async function readJson<Value>(path: string): Promise<Value | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Value
  } catch {
    return undefined
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

/** The sources are TypeScript in a checkout and JavaScript in the package. */
function keeperCommand(): string[] {
  const source = import.meta.url.endsWith('.ts')
  const keeper = fileURLToPath(new URL(source ? './shell-keeper.ts' : './shell-keeper.js', import.meta.url))
  const loader = source ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] : []
  return [process.execPath, ...loader, keeper]
}
