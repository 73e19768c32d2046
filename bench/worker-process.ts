/** A worker as users run it: the built `stello worker` in a process of its own, which can be measured and killed. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { World } from './world.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

export interface WorkerProcess {
  /** Milliseconds from the start of the process until it says that it is ready. */
  readonly bootMs: number
  /** Resident memory, MB. */
  rss(): number
  kill(): Promise<void>
}

let built = false

/** Builds `dist` from the present sources, because the figures describe the package. */
export function build(say: World['say']): void {
  if (built) return
  say('building the package')
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm run build failed:\n${stderr}`)
  built = true
}

export async function startWorkerProcess(world: World, agent: string): Promise<WorkerProcess> {
  const begun = performance.now()
  const worker = spawn(process.execPath, ['dist/cli/main.js', '--json', 'worker', 'bench/served-agent.mjs'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      BENCH_AGENT: agent,
      TEMPORAL_ADDRESS: world.temporalAddress,
      STELLO_DATABASE_URL: world.databaseUrl,
    },
  })
  const end = (): boolean => worker.kill('SIGKILL')
  process.once('exit', end)
  worker.once('exit', () => process.off('exit', end))
  await ready(worker)
  return {
    bootMs: performance.now() - begun,
    rss: () => residentMb(worker.pid ?? 0),
    async kill() {
      const ended = once(worker, 'exit')
      worker.kill('SIGKILL')
      await ended
    },
  }
}

async function ready(worker: ChildProcess): Promise<void> {
  if (!worker.stdout) throw new Error('the worker has no output')
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`the worker ended with code ${code} before it was ready`)
  })
  await Promise.race([once(createInterface({ input: worker.stdout }), 'line'), ended])
}

function residentMb(pid: number): number {
  const pages = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(pages?.[1]) / 1024
}
