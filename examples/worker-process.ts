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
  /** Called when it has died. @returns what was under way, for the note about it */
  died?(): Promise<string>
}

const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

/** Resolves when the worker serves. @throws an error with what the worker printed when it ends before */
export async function keepWorker({ agent, environment, note, died }: Kept): Promise<KeptWorker> {
  const stopping = new AbortController()
  const { signal } = stopping
  const env = { ...process.env, ...environment }
  const start = (): Promise<WorkerChild> =>
    startWorkerChild({ main: MAIN, file: fileURLToPath(agent), options: [], env, say: () => undefined, signal })
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
    note(`✗ worker killed (SIGKILL)${(await died?.()) ?? ''}`)
    current = await start()
    note(`… another worker goes on: process ${current.pid}`)
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
