/**
 * Lets one process work at a time, by a lock file that names its holder and is created whole or not at all.
 *
 * If the holder is dead, a process that waits breaks the lock. Must never break the lock of a living process.
 */
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { StelloError } from '../core/errors.ts'
import { isAlive, self, type ProcessId } from './processes.ts'

export interface LockOptions {
  /** Called once with the holder of the lock, and every 10 seconds while we still wait. */
  onProgress?: ((line: string) => void) | undefined
  /** How long to wait for a living holder, in milliseconds. Default 5 minutes. */
  limitMs?: number
}

interface Held extends ProcessId {
  token: string
}

/**
 * Runs `work` while holding the lock file `path`, and releases it however `work` ends.
 *
 * @throws StelloError `SERVER_UNREACHABLE` when a living process keeps the lock longer than `limitMs`.
 * @example
 * await withLock('.stello/start.lock', async () => startServers(), { onProgress: console.error })
 */
export async function withLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const token = await acquire(path, options)
  try {
    return await work()
  } finally {
    if ((await read(path))?.token === token) await rm(path, { force: true })
  }
}

async function acquire(path: string, { onProgress, limitMs = 300_000 }: LockOptions): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  const held: Held = { ...self(), token: randomUUID() }
  const began = Date.now()
  let toldAt = 0
  while (!(await create(path, held))) {
    const holder = await read(path)
    if (!holder) continue
    if (!isAlive(holder) && (await breakStale(path, held))) continue
    const waited = Date.now() - began
    if (waited > limitMs) {
      throw new StelloError(
        'SERVER_UNREACHABLE',
        `${path} has been held by process ${holder.pid} for more than ${Math.round(limitMs / 1000)} s`,
        { hint: `end process ${holder.pid}, or remove ${path} (and ${path}.break) if it is no stello process` },
      )
    }
    if (Date.now() - toldAt > 10_000) {
      onProgress?.(`waiting for process ${holder.pid}, which holds ${path} (${Math.round(waited / 1000)} s)`)
      toldAt = Date.now()
    }
    await delay(50)
  }
  return held.token
}

/** Exclusive like O_EXCL, but the file appears with its content: nobody can read a lock without a holder. */
async function create(path: string, held: Held): Promise<boolean> {
  const draft = `${path}.${held.token}`
  await writeFile(draft, JSON.stringify(held), { flag: 'wx', mode: 0o600 })
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/**
 * Only the holder of `<path>.break` removes a lock, and only after another look: of two waiters that saw the same dead
 * holder, the slower one must not remove the lock that the faster one has taken meanwhile.
 */
async function breakStale(path: string, held: Held): Promise<boolean> {
  if (!(await create(`${path}.break`, held))) return false
  try {
    const holder = await read(path)
    if (holder && !isAlive(holder)) await rm(path, { force: true })
    return true
  } finally {
    await rm(`${path}.break`, { force: true })
  }
}

async function read(path: string): Promise<Held | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Held
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    // Such a file was not written by us, or was cut by a power failure: no living process holds it.
    if (error instanceof SyntaxError) return { pid: 0, started: '', token: '' }
    throw error
  }
}
