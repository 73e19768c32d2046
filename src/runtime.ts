/** Temporal's runtime, of which there is one per process: what it logs, and where its metrics can be read. */
import { IllegalStateError } from '@temporalio/common'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { HISTOGRAM_BUCKETS } from './activities/metrics.ts'
import { StelloError, messageOf } from './agent/errors.ts'

/** Two of a process's three Temporal workers serve no workflows: that is meant. */
const MEANT = 'No workflows registered, not polling for workflow tasks'

class QuietLogger extends DefaultLogger {
  override log(...[level, message, meta]: Parameters<DefaultLogger['log']>): void {
    if (message !== MEANT) super.log(level, message, meta)
  }
}

/** Where the runtime of this process serves metrics; its runtime may since have ended with its last worker. */
let served: number | undefined

/**
 * Quiet, since Temporal's runtime and bundler report every step otherwise. The first to install wins.
 *
 * @param metricsPort serves `http://…:<port>/metrics` on all interfaces; 1 to 65535
 * @throws StelloError INVALID_ARGUMENT when the port cannot be had
 */
export function installRuntime(metricsPort?: number): void {
  if (metricsPort !== undefined && !(Number.isInteger(metricsPort) && metricsPort > 0 && metricsPort < 65536)) {
    throw new StelloError('INVALID_ARGUMENT', `metricsPort: ${metricsPort} is not a port`, { hint: 'use 1 to 65535' })
  }
  const prometheus = { bindAddress: `0.0.0.0:${metricsPort}`, histogramBucketOverrides: HISTOGRAM_BUCKETS }
  try {
    Runtime.install({
      logger: new QuietLogger('WARN'),
      ...(metricsPort !== undefined && { telemetryOptions: { metrics: { prometheus } } }),
    })
    served = metricsPort
  } catch (error) {
    if (metricsPort === undefined && error instanceof IllegalStateError) return
    if (!(error instanceof IllegalStateError)) throw refused(metricsPort, messageOf(error))
    if (metricsPort !== served) throw refused(metricsPort, 'this process has a runtime without metrics on that port')
  }
}

function refused(port: number | undefined, why: string): StelloError {
  return new StelloError('INVALID_ARGUMENT', `metrics cannot be served on port ${port}: ${why}`, {
    hint: 'choose a free port, and give the same one to the first worker of the process',
  })
}
