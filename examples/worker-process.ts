/** The worker of a demo in a process of its own, which can really be killed. When it dies, another one goes on. */
import { fileURLToPath } from 'node:url'
import { startWorkerChild, type WorkerChild } from '../src/cli/serve/worker-child.ts'

export interface KeptWorker {
  /** Sends SIGKILL, so the process cannot clean up. Resolves when another one serves. */
  kill(): Promise<void>
  stop(): Promise<void>
  /** Rejects when no other one could be started. */
  readonly failed: Promise<never>
}

interface Kept {
  /** The file of its agent. */
  agent: URL
  environment: Record<string, string>
  note(line: string): void
  /** Called when it has ended. @returns what was under way, for the note about it */
  ended?(): Promise<string>
}

/** How often another one is started that ends before it serves. */
const TRIES = 5
const LAST_LINES = 5
const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

/** Resolves when the worker serves. @throws an error with what the worker printed when it ends before */
export async function keepWorker({ agent, environment, note, ended }: Kept): Promise<KeptWorker> {
  const stopping = new AbortController()
  const { signal } = stopping
  const env = { ...process.env, ...environment }
  // What it says matters only if it ends by itself.
  const last: string[] = []
  const say = (line: string): void => {
    if (last.push(line) > LAST_LINES) last.shift()
  }
  const start = (): Promise<WorkerChild> =>
    startWorkerChild({ main: MAIN, file: fileURLToPath(agent), options: [], env, say, signal })
  let current = await start()
  note(`Worker:    process ${current.pid} (kill it, and another one goes on)`)
  let replaced = Promise.resolve()
  const keep = async (): Promise<never> => {
    for (;;) {
      await current.ended
      if (signal.aborted) return new Promise(() => undefined)
      replaced = replace()
      await replaced
    }
  }
  async function replace(): Promise<void> {
    const under = (await ended?.().catch(() => '')) ?? ''
    note([`✗ the worker has ended${under}`, ...last.splice(0)].join('\n  '))
    for (let tries = 1; ; tries++) {
      try {
        current = await start()
        return note(`… another worker goes on: process ${current.pid}`)
      } catch (error) {
        // Somebody may kill it while it starts.
        if (signal.aborted || tries === TRIES) throw error
      }
    }
  }
  const failed = keep()
  failed.catch(() => undefined)
  return {
    failed,
    async kill() {
      const { ended } = current
      current.kill()
      await ended
      await replaced
    },
    async stop() {
      stopping.abort()
      await replaced.catch(() => undefined)
      await current.stop()
    },
  }
}
