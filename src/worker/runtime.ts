/** Temporal's runtime, one per process: what it logs, and where its metrics can be read. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { IllegalStateError } from '@temporalio/common'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { HISTOGRAM_BUCKETS } from '../activities/metrics.ts'
import { StelloError, messageOf } from '../core/errors.ts'
import { serveHealth, type Health } from './health.ts'

/** Two of the three Temporal workers of a process serve no workflows. That is intended. */
const MEANT = 'No workflows registered, not polling for workflow tasks'

class QuietLogger extends DefaultLogger {
  override log(...[level, message, meta]: Parameters<DefaultLogger['log']>): void {
    if (message !== MEANT) super.log(level, message, meta)
  }
}

/** The port of this process, if it has one. The port closes with the last worker, like the runtime. */
let served: { port: number; health: Health } | undefined
/** Workers that start at the same time wait for each other here. */
let turn: Promise<unknown> = Promise.resolve()

/**
 * Installs a quiet runtime: otherwise Temporal's runtime and bundler report every step. The first to install wins.
 *
 * @param metricsPort serves `/metrics`, `/healthz` and `/readyz` there; 1 to 65535
 * @param metricsHost address of this machine to serve them on; nobody signs in to them
 * @returns the health port, if there is one
 * @throws StelloError INVALID_ARGUMENT when the port cannot be opened
 */
export function installRuntime(metricsPort?: number, metricsHost = '127.0.0.1'): Promise<Health | undefined> {
  const installed = turn.then(() =>
    metricsPort === undefined ? installQuiet() : installServing(metricsPort, metricsHost),
  )
  turn = installed.catch(() => undefined)
  return installed
}

function installQuiet(): undefined {
  try {
    Runtime.install({ logger: new QuietLogger('WARN') })
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error
  }
}

/** The runtime serves its metrics on this machine only. Requests from elsewhere come to our port. */
async function installServing(port: number, host: string): Promise<Health> {
  if (!(Number.isInteger(port) && port > 0 && port < 65536))
    throw new StelloError('INVALID_ARGUMENT', `metricsPort: ${port} is not a port`, { hint: 'use 1 to 65535' })
  if (served?.port === port) return served.health
  if (served) throw refused(port, `this process serves its metrics on port ${served.port}`)
  const bindAddress = `127.0.0.1:${await freePort()}`
  const prometheus = { bindAddress, histogramBucketOverrides: HISTOGRAM_BUCKETS }
  try {
    Runtime.install({ logger: new QuietLogger('WARN'), telemetryOptions: { metrics: { prometheus } } })
  } catch (error) {
    const unserved = error instanceof IllegalStateError
    throw refused(port, unserved ? 'this process has a runtime without metrics on that port' : messageOf(error))
  }
  try {
    const health = await serveHealth({ port, host }, `http://${bindAddress}/metrics`, () => (served = undefined))
    served = { port, health }
    return health
  } catch (error) {
    // Otherwise this process could open no other port later.
    await Runtime.instance().shutdown()
    throw refused(port, messageOf(error))
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function refused(port: number, why: string): StelloError {
  return new StelloError('INVALID_ARGUMENT', `metrics cannot be served on port ${port}: ${why}`, {
    hint: 'choose a free port, and give the same one to the first worker of the process',
  })
}
