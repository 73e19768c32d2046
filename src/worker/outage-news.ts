/** Tells the people who run a worker of an outage of a provider: a line when it begins, a line when it ends. */
import { durationText } from '../core/duration.ts'
import type { Metrics } from '../activities/metrics.ts'
import type { GatesOptions } from '../activities/model/gates.ts'

interface Listeners {
  metrics: Pick<Metrics, 'providerAway'>
  log: { info(message: string): void; warn(message: string): void }
}

export function tellOutages({ metrics, log }: Listeners): NonNullable<GatesOptions['told']> {
  return (provider, news) => {
    metrics.providerAway(provider, 'away' in news)
    if ('away' in news) {
      log.warn(`provider ${provider} is away: ${news.away.why}. Its sessions wait, and one at a time tries it again`)
    } else {
      log.info(`provider ${provider} answers again, after ${durationText(Math.round(news.backAfterMs))}`)
    }
  }
}
