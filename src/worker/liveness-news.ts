/** Reports changes of the connections by which this worker shows that it lives. Decides nothing. */
import { messageOf } from '../core/errors.ts'
import type { LivenessChange } from '../store/ledger/liveness.ts'
import type { Metrics } from '../activities/metrics.ts'

interface News {
  log: { info(message: string): void; warn(message: string): void }
  metrics: Pick<Metrics, 'liveness'>
}

/** @returns a listener for `holdLiveness` */
export function tellLiveness({ log, metrics }: News): (change: LivenessChange, held: boolean) => void {
  metrics.liveness(0, true)
  return (change, held) => {
    metrics.liveness(change.kind === 'lost' ? 1 : 0, held)
    const state = held
      ? 'another one still says so'
      : 'none says so any more: others take over what this worker has in hand, and it begins nothing until one is back'
    switch (change.kind) {
      case 'lost':
        return log.warn(`a connection that says that this worker lives was lost; ${state}`)
      case 'refused':
        return log.warn(`it cannot be replaced yet, and is tried until it is: ${messageOf(change.error)}; ${state}`)
      case 'back':
        return log.info('a connection that says that this worker lives is back')
    }
  }
}
