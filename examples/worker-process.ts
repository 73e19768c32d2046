/** The worker in a process of its own, so that it can really be killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface WorkerProcess {
  /** Sends SIGKILL, so the process cannot clean up. */
  kill(): Promise<void>
  stop(): Promise<void>
}

const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

/**
 * Resolves when the worker serves. Rejects with the output of the process if it ends before that.
 *
 * @param agent the file of its agent
 */
export async function startWorkerProcess(agent: URL, environment: Record<string, string>): Promise<WorkerProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'worker', fileURLToPath(agent), '--json'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C in the terminal reaches the launcher, and the launcher stops the worker in order.
    detached: true,
  })
  let printed = ''
  child.stderr.on('data', (data: Buffer) => (printed = (printed + data.toString()).slice(-4000)))
  const ended = once(child, 'exit')
  await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => Promise.reject(new Error(`the worker ended at once:\n${printed}`))),
  ])
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
  }
  return { kill: () => end('SIGKILL'), stop: () => end('SIGTERM') }
}
