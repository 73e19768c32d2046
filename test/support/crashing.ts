/** Workers that can be killed, and the doors at which their tools knock. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createGate, type Gate } from './gate.ts'
import type { WorkerSettings } from './worker-process.ts'

export interface Doors {
  readonly url: string
  /** Each knock: which tool, of which process. */
  readonly knocks: readonly { tool: string; pid: number }[]
  /** Resolves when there were `n` knocks. */
  knocked(n: number): Promise<void>
  open(): void
  /** From now on that tool is answered at once, open or not. */
  say(tool: string, text: string): void
  close(): Promise<void>
}

/** Tools knock here and get their result once the doors are open. */
export async function startDoors(): Promise<Doors> {
  const knocks: { tool: string; pid: number }[] = []
  const gate: Gate = createGate()
  const said = new Map<string, string>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://doors')
    const tool = url.pathname.slice(1)
    knocks.push({ tool, pid: Number(url.searchParams.get('pid')) })
    const text = said.get(tool)
    void gate.pass().then(() => response.end(`${tool} done`))
    if (text !== undefined) response.end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    knocks,
    knocked: (n) => gate.reached(n),
    open: () => gate.open(),
    say: (tool, text) => void said.set(tool, text),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

export interface WorkerProcess {
  readonly pid: number
  /** SIGKILL: no chance to say goodbye. Resolves when it is gone. */
  kill(): Promise<void>
}

/** Resolves when the worker serves. `preloads`: modules the process loads before anything else. */
export async function startWorkerProcess(settings: WorkerSettings, preloads: string[] = []): Promise<WorkerProcess> {
  const script = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
  const child: ChildProcess = fork(script, [JSON.stringify(settings)], {
    execArgv: ['tsx', ...preloads].flatMap((module) => ['--import', module]),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the worker ended with code ${code}`))),
  ])
  return {
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
