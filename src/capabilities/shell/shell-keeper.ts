/** The program beside a background shell: runs it, keeps its log, and writes how it ended. It outlives the worker. */
import { link, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readJson, writeJson, type Keeper, type ShellExit, type ShellStart } from './background-shells.ts'
import { openLog } from './output-log.ts'
import { startOf } from './process-start.ts'
import { runProcess } from './run-process.ts'

async function keep(folder: string): Promise<void> {
  const start = await readJson<ShellStart>(join(folder, 'start.json'))
  if (!start) return
  const stop = new AbortController()
  process.on('SIGTERM', () => stop.abort())
  if (!(await claim(folder))) return
  await writeJson(join(folder, 'exit.json'), await run(folder, start, stop.signal))
}

/** Two keepers may have been started, by two attempts of one call. The first one runs the shell. */
async function claim(folder: string): Promise<boolean> {
  const keeper: Keeper = { pid: process.pid, started: startOf(process.pid) ?? '' }
  const own = join(folder, `keeper-${process.pid}`)
  await writeJson(own, keeper)
  try {
    // Unlike a rename, this fails when the name is taken.
    await link(own, join(folder, 'keeper.json'))
    return true
  } catch {
    return false
  } finally {
    await unlink(own)
  }
}

async function run(folder: string, { argv, cwd, timeoutMs }: ShellStart, signal: AbortSignal): Promise<ShellExit> {
  const log = await openLog(join(folder, 'log'))
  try {
    const env = process.env as Record<string, string>
    const id = basename(folder)
    const { said: _said, ...end } = await runProcess({ argv, cwd, env, id, timeoutMs, signal, onOutput: log.write })
    return end
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  } finally {
    await log.close()
  }
}

await keep(process.argv[2] ?? '')
