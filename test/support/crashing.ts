/** Workers that can be killed, and the doors at which their user code waits. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { builtModule } from './built.ts'
import { createGate, type Gate } from './gate.ts'
import type { WorkerSettings } from './worker-process.ts'

export interface Knock {
  /** A tool, or other user code of the worker's agent. */
  tool: string
  pid: number
  /**
   * The idempotency key of the call, which begins with session and step. For a hook the id of its parent, else empty.
   */
  key: string
  /** The arguments of the call, so that a test can tell it from others. */
  tag: string
}

export interface Doors {
  readonly url: string
  readonly knocks: readonly Knock[]
  /** Resolves when there were `n` knocks. */
  knocked(n: number): Promise<void>
  /** Resolves when `n` of them have their results. */
  answered(n: number): Promise<void>
  /** From now on, those that knock and fit wait at the gate. */
  hold(which?: (knock: Knock) => boolean): Gate
  /** From now on, that tool gets this result, held or not. */
  say(tool: string, text: string): void
  close(): Promise<void>
}

/** User code knocks here, and gets its result at once unless it is held. */
export async function startDoors(): Promise<Doors> {
  const knocks: Knock[] = []
  const arrivals: Gate = createGate()
  const left: Gate = createGate()
  const said = new Map<string, string>()
  const holds: { which(knock: Knock): boolean; gate: Gate }[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://doors')
    const [tool, given] = [url.pathname.slice(1), url.searchParams]
    const knock = { tool, pid: Number(given.get('pid')), key: given.get('key') ?? '', tag: given.get('tag') ?? '' }
    knocks.push(knock)
    void arrivals.pass()
    response.once('finish', () => void left.pass())
    const text = said.get(tool)
    if (text !== undefined) return void response.end(text)
    const held = holds.filter(({ which }) => which(knock)).map(({ gate }) => gate.pass())
    void Promise.all(held).then(() => response.end(`${tool} done`))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    knocks,
    knocked: (n) => arrivals.reached(n),
    answered: (n) => left.reached(n),
    hold(which = () => true) {
      const gate = createGate()
      holds.push({ which, gate })
      return gate
    },
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
  /** Resolves when it serves. Rejects if it ends before. */
  readonly ready: Promise<void>
  /** Resolves when it is gone, for any reason. */
  readonly ended: Promise<Exit>
  /** Sends SIGKILL, so the process cannot clean up. Resolves when it is gone. */
  kill(): Promise<void>
  /** Sends SIGTERM. Resolves when the worker has received it. */
  terminate(): Promise<void>
  /** SIGTERM once more. */
  insist(): void
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface SpawnOptions {
  /** The path of a JavaScript module that sends a message to its parent when it serves. */
  module: string
  /** Modules that the process loads before anything else. */
  preloads?: readonly string[]
  /** The file descriptor for its standard error. Default: ours. */
  stderr?: number
}

/** Resolves when the worker serves. */
export async function startWorkerProcess(settings: WorkerSettings, preloads: string[] = []): Promise<WorkerProcess> {
  const worker = spawnWorker(settings, { module: builtModule('test/support/worker-process.ts'), preloads })
  await worker.ready
  return worker
}

/** A worker that is still starting can be killed, too. */
export function spawnWorker(settings: object, options: SpawnOptions): WorkerProcess {
  const { module, preloads = [], stderr = 'inherit' } = options
  const child: ChildProcess = fork(module, [JSON.stringify(settings)], {
    execArgv: preloads.flatMap((preload) => ['--import', preload]),
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
  })
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }) as Exit)
  const told = async (): Promise<void> => {
    await Promise.race([
      once(child, 'message'),
      ended.then(({ code }) => Promise.reject(new Error(`the worker ended with code ${code}`))),
    ])
  }
  const ready = told()
  ready.catch(() => undefined)
  return {
    pid: child.pid ?? 0,
    ready,
    ended,
    async terminate() {
      const stopping = told()
      child.kill('SIGTERM')
      await stopping
    },
    insist: () => void child.kill('SIGTERM'),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
