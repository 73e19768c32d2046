/** The bars of one lane, and what is told of a bar that somebody has picked. */
import { memo, type ReactNode } from 'react'
import { span as passed } from '../tree/doing.ts'
import type { TimelineSpan } from '../server/wire.ts'
import type { Bar, Lane } from './lanes.ts'

export const barWords: Readonly<Record<TimelineSpan['kind'], string>> = {
  model: 'model',
  tool: 'tool',
  child: 'waits for a fork',
  wait: 'waits for a person',
  pause: 'paused',
}

interface LaneBarsProps {
  lane: Lane
  /** Where a time is, in percent of what is seen. */
  leftOf(at: number): number
  trackPx: number
  workers: readonly string[]
  picked: Bar | undefined
  onPick(bar: Bar): void
}

export const LaneBars: (props: LaneBarsProps) => ReactNode = memo(
  ({ lane, leftOf, trackPx, workers, picked, onPick }: LaneBarsProps) => (
    <div className="bars">
      {lane.bars.map((bar) => {
        const { span, from, to, track } = bar
        const left = leftOf(from)
        const right = leftOf(to)
        if (right < 0 || left > 100) return null
        const begin = Math.max(left, -1)
        const worker = span.worker === undefined ? '' : ` w${workers.indexOf(span.worker) % 6}`
        const goesOn = span.endedAt === undefined ? ' goes-on' : ''
        const isPicked = picked && keyOf(picked) === keyOf(bar) ? ' picked' : ''
        return (
          <button
            key={keyOf(bar)}
            className={`span ${span.kind} ${span.outcome ?? ''}${worker}${goesOn}${isPicked}`}
            style={{ left: `${begin}%`, width: `${Math.min(right, 101) - begin}%`, top: track * trackPx + 5 }}
            title={barText(bar)}
            aria-label={barText(bar)}
            onClick={() => onPick(bar)}
          >
            <span className="span-name">{nameOf(bar)}</span>
          </button>
        )
      })}
    </div>
  ),
)

function keyOf({ span }: Bar): string {
  return [span.sessionId, span.kind, span.turn, span.round, span.callId, span.name, span.attempt, span.begunAt].join(
    ' ',
  )
}

/** @example '↻2 Bash' // the second attempt at it */
function nameOf({ span, nth }: Bar): string {
  const name = span.title ?? span.name
  return nth > 1 && (span.kind === 'model' || span.kind === 'tool') ? `↻${nth} ${name}` : name
}

/** Begins with what the bar shows. @example 'Bash · tool · 1.5 s · taken over: its worker was lost · 12@host' */
function barText(bar: Bar): string {
  const { span, from, to } = bar
  const { kind, outcome, worker, code } = span
  const end = outcome === 'taken_over' ? 'taken over: its worker was lost' : outcome?.replace('_', ' ')
  return [
    nameOf(bar),
    barWords[kind],
    passed(to - from),
    end ?? (span.endedAt === undefined ? 'goes on' : undefined),
    code,
    worker,
  ]
    .filter((part) => part !== undefined)
    .join(' · ')
}

export function BarDetails({ bar, onClose }: { bar: Bar; onClose(): void }): ReactNode {
  const { span, from, to } = bar
  const facts: [string, string | undefined][] = [
    ['what', `${span.title ?? span.name} (${barWords[span.kind]})`],
    ['began', new Date(from).toLocaleTimeString()],
    ['took', `${passed(to - from)}${span.endedAt === undefined ? ' so far' : ''}`],
    ['turn', span.round === undefined ? String(span.turn) : `${span.turn}, round ${span.round + 1}`],
    ['outcome', span.outcome?.replace('_', ' ')],
    ['code', span.code],
    ['attempt', String(bar.nth)],
    ['worker', span.worker],
  ]
  return (
    <div className="bar-details" role="status">
      <dl>
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd className="num">{value}</dd>
              </div>
            ),
        )}
      </dl>
      <button className="bare" aria-label="Dismiss" onClick={onClose}>
        ×
      </button>
    </div>
  )
}
