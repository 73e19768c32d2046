/** A worker as a process below another one: it can be replaced while the others go on, and it ends with its parent. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

export interface WorkerChild {
  /** The name of the agent that it serves. */
  readonly agent: string
  readonly pid: number
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>
  /** Lets it finish its steps in hand, then ends it. */
  stop(): Promise<void>
  /** Sends SIGKILL, so it cannot clean up. */
  kill(): void
}

export interface ChildOptions {
  /** The module of the `stello` command. Default: the one that runs. */
  main?: string
  file: string
  /** Options of `stello worker`. */
  options: readonly string[]
  env: NodeJS.ProcessEnv
  /** Gets its output, line by line. */
  say(line: string): void
  /** Kills it if it does not serve yet. */
  signal?: AbortSignal
  /** It is killed if it does not serve by then. Default 60,000 ms. */
  withinMs?: number
}

const WITHIN_MS = 60_000
/** The last output may come after the end of the process. Processes that it has left may hold the output open for ever. */
const LAST_WORDS_MS = 1000

/** Resolves when it serves. @throws an error with what it printed when it ends before, or is killed */
export async function startWorkerChild({
  main = process.argv[1] ?? '',
  file,
  options,
  env,
  say,
  signal,
  withinMs = WITHIN_MS,
}: ChildOptions): Promise<WorkerChild> {
  const child = spawn(process.execPath, [...process.execArgv, main, 'worker', file, '--json', ...options], {
    env,
    // Over the last channel it learns that its parent is gone.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Ctrl-C in the terminal reaches the launcher, which stops the worker in order.
    detached: true,
  })
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new Error('the worker has no output')
  const closed = once(child, 'close')
  const ended = once(child, 'exit').then(async () => {
    await Promise.race([closed, delay(LAST_WORDS_MS, undefined, { ref: false })])
  })
  const printed: string[] = []
  let agent: string | undefined
  const told = (line: string): void => void (agent === undefined ? printed.push(line) : say(line))
  createInterface(stderr).on('line', told)
  const ready = new Promise<string>((resolve) => {
    // The user's own code may print too.
    createInterface(stdout).on('line', (line) => {
      const name = agent === undefined ? agentOf(line) : undefined
      if (name === undefined) return told(line)
      agent = name
      resolve(name)
    })
  })
  const given = AbortSignal.any([AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])])
  const kill = (): void => {
    if (agent !== undefined) return
    printed.push(signal?.aborted ? 'stopped before it served' : `it does not serve after ${withinMs / 1000} s`)
    child.kill('SIGKILL')
  }
  given.addEventListener('abort', kill, { once: true })
  if (given.aborted) kill()
  try {
    const name = await Promise.race([
      ready,
      ended.then(() => Promise.reject(new Error(printed.join('\n') || 'the worker was killed before it served'))),
    ])
    for (const early of printed) say(early)
    return {
      agent: name,
      pid: child.pid ?? 0,
      ended,
      kill: () => void child.kill('SIGKILL'),
      async stop() {
        child.kill('SIGTERM')
        // One that somebody has stopped could not hear.
        child.kill('SIGCONT')
        await ended
      },
    }
  } finally {
    given.removeEventListener('abort', kill)
  }
}

/** The agent of the line that says that it serves; undefined for every other line. */
function agentOf(line: string): string | undefined {
  try {
    const { ready, agent } = JSON.parse(line) as { ready?: unknown; agent?: unknown }
    return ready === true && typeof agent === 'string' ? agent : undefined
  } catch {
    return undefined
  }
}
