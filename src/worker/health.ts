/**
 * What a process says about its workers over HTTP: `/healthz` (it is alive), `/readyz` (its workers can work, or why
 * not) and `/metrics`, which comes from Temporal's runtime. There is one port per process. It decides nothing and
 * changes nothing.
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { messageOf } from '../core/errors.ts'

/** Asks for the state of one worker. It never rejects. */
export type Check = () => Promise<Readiness>

/** The state of a worker. */
export interface Readiness {
  /** The agent it serves. */
  agent: string
  /** What keeps it from working; empty when nothing does. */
  problems: string[]
  /** For people: the facts behind it. */
  [fact: string]: unknown
}

export interface Health {
  /** @returns a function that removes the worker; the port closes with the last one */
  add(check: Check): () => Promise<void>
}

/**
 * Begins to answer. The port closes with the last worker.
 *
 * @param metricsAt where the runtime serves its metrics
 * @param ended called when the port closes
 * @throws the system's error when the port cannot be opened
 */
export async function serveHealth(
  at: { port: number; host: string },
  metricsAt: string,
  ended: () => void,
): Promise<Health> {
  const checks = new Set<Check>()
  const lag = monitorEventLoopDelay({ resolution: 20 })
  lag.enable()
  const answers = new Map<string | undefined, (response: ServerResponse) => Promise<void> | void>([
    [
      '/healthz',
      (response) => {
        const loopLagMs = Math.round(lag.max / 1e6)
        lag.reset()
        say(response, 200, { ok: true, loopLagMs })
      },
    ],
    [
      '/readyz',
      async (response) => {
        const workers = await Promise.all([...checks].map((check) => check()))
        const ok = workers.length > 0 && workers.every(({ problems }) => problems.length === 0)
        say(response, ok ? 200 : 503, { ok, workers })
      },
    ],
    [
      '/metrics',
      async (response) => {
        const metrics = await fetch(metricsAt)
        const type = metrics.headers.get('content-type') ?? 'text/plain'
        response.writeHead(metrics.status, { 'content-type': type }).end(await metrics.text())
      },
    ],
  ])
  const server = createServer(({ url }, response) => {
    const answer = answers.get(url?.split('?', 1)[0])
    if (!answer) return say(response, 404, { paths: [...answers.keys()] })
    Promise.resolve(answer(response)).catch((error: unknown) =>
      say(response, 503, { ok: false, error: messageOf(error) }),
    )
  })
  server.listen(at)
  await once(server, 'listening')
  return {
    add(check) {
      checks.add(check)
      return async () => {
        if (!checks.delete(check) || checks.size > 0) return
        lag.disable()
        const closed = new Promise<void>((resolve) => server.close(() => resolve()))
        server.closeAllConnections()
        await closed
        ended()
      }
    },
  }
}

function say(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(value)}\n`)
}
