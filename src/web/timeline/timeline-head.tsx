/** What stands above the lanes: what the bars mean, the workers, and those that were lost. */
import type { ReactNode } from 'react'
import { barWords } from './lane-bars.tsx'
import { takenText, type Loss } from './lanes.ts'

interface TimelineHeadProps {
  workers: readonly string[]
  losses: readonly Loss[]
  /** Stands beside them. */
  children: ReactNode
}

export function TimelineHead({ workers, losses, children }: TimelineHeadProps): ReactNode {
  return (
    <>
      <div className="timeline-head">
        <ul className="timeline-key" aria-label="Key">
          {(['model', 'tool', 'child', 'wait', 'pause'] as const).map((kind) => (
            <li key={kind}>
              <i className={`span ${kind}`} aria-hidden /> {barWords[kind]}
            </li>
          ))}
          <li>
            <i className="span tool taken_over" aria-hidden /> taken over
          </li>
        </ul>
        <p className="timeline-workers">
          {workers.map((worker, index) => (
            <span key={worker} className={`worker w${index % 6}`} title={worker}>
              {shortWorker(worker)}
            </span>
          ))}
        </p>
        {children}
      </div>
      {losses.length > 0 && (
        <p className="timeline-losses">
          {losses.slice(-3).map((loss) => (
            <span key={`${loss.worker} ${loss.at}`}>
              ✕ Worker {shortWorker(loss.worker)} was lost at {new Date(loss.at).toLocaleTimeString()}. Taken over:{' '}
              {takenText(loss)}
            </span>
          ))}
        </p>
      )}
    </>
  )
}

/** A few characters of an id tell it from the others of a tree. @example shortWorker('1f0c…-…') // '1f0c9a2e' */
function shortWorker(worker: string): string {
  return worker.length <= 16 ? worker : worker.slice(0, 8)
}
