/**
 * The time line of a tree: a lane for each session, who ran what when. A lost worker is a line through all lanes; what it had
 * in hand ends hatched, and goes on with another worker. Wheel with Ctrl or +/− zooms, arrows move, F follows now.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState, type ReactNode } from 'react'
import { api } from '../server/api.ts'
import { hrefOf } from '../route.ts'
import { moodOf } from '../tree/doing.ts'
import { flatTree } from '../tree/tree-rows.ts'
import { usePolled } from '../server/use-polled.ts'
import type { TimelineSpan, Tree } from '../server/wire.ts'
import { BarDetails, LaneBars } from './lane-bars.tsx'
import { lossesOf, toLanes, workersOf, type Bar, type Lane } from './lanes.ts'
import { TimeAxis } from './time-axis.tsx'
import { TimelineHead } from './timeline-head.tsx'
import { positionOf, toScale, zoomed } from './time-scale.ts'
import { useTimeWindow, ZoomButtons } from './time-window.tsx'
import './timeline.css'

interface TimeLineProps {
  tree: Tree
  /** The session that is looked at. */
  here: string
  now: number
  /** Something runs: the end of the line is now. */
  isAwake: boolean
}

const TRACK_PX = 16
const LANE_PX = 10
const AWAKE_MS = 2000
const ASLEEP_MS = 10_000

export function TimeLine({ tree, here, now, isAwake }: TimeLineProps): ReactNode {
  const { answer, failure } = usePolled(tree.id, api.timeline, { everyMs: isAwake ? AWAKE_MS : ASLEEP_MS })
  if (!answer) return <p className="empty">{failure ? `${failure.message}. ${failure.hint ?? ''}` : 'Loading…'}</p>
  if (answer.length === 0) return <p className="empty">Nothing has run yet.</p>
  // Without a span that goes on, time changes nothing: thousands of bars are not drawn every second.
  const at = answer.some(({ endedAt }) => endedAt === undefined) ? now : 0
  return <Drawn spans={answer} tree={tree} here={here} now={at} />
}

interface DrawnProps extends Omit<TimeLineProps, 'isAwake'> {
  spans: readonly TimelineSpan[]
}

function Drawn({ spans, tree, here, now }: DrawnProps): ReactNode {
  const [picked, setPicked] = useState<Bar>()
  const scroller = useRef<HTMLDivElement>(null)
  const sessions = useMemo(() => flatTree(tree), [tree])
  const { lanes, scale, losses, workers } = useMemo(() => {
    const made = toLanes(
      spans,
      sessions.map(({ id }) => id),
      now,
    )
    const bars = made.flatMap((lane) => lane.bars)
    const busy = bars.filter(({ span }) => span.kind !== 'wait' && span.kind !== 'pause')
    return {
      lanes: made,
      scale: toScale(busy.length > 0 ? busy : bars),
      losses: lossesOf(spans),
      workers: workersOf(spans),
    }
  }, [spans, sessions, now])
  const { window, look, keys, onKey, isWhole, follows } = useTimeWindow(scale)
  const virtual = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => LANE_PX + TRACK_PX * (lanes[index] as Lane).tracks,
    getItemKey: (index) => (lanes[index] as Lane).sessionId,
    overscan: 8,
  })
  const leftOf = (at: number): number => ((positionOf(scale, at) - window.from) / (window.to - window.from)) * 100
  return (
    <section className="timeline" aria-label="Time line" onKeyDown={onKey}>
      <TimelineHead workers={workers} losses={losses}>
        <ZoomButtons keys={keys} isWhole={isWhole} follows={follows} />
      </TimelineHead>
      <div className="timeline-axis-row">
        <span className="timeline-name" />
        <TimeAxis
          scale={scale}
          window={window}
          onPick={(from, to) => look({ from, to })}
          onZoom={(by, around) => look(zoomed(scale, window, { by, around }))}
        />
      </div>
      <div ref={scroller} className="timeline-lanes" tabIndex={0} role="group" aria-label="Lanes">
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start, size: height }) => {
            const lane = lanes[index] as Lane
            const session = sessions[index] as Tree
            return (
              <div
                key={lane.sessionId}
                className={`lane${session.id === here ? ' here' : ''}`}
                style={{ transform: `translateY(${start}px)`, height }}
              >
                <a
                  className="timeline-name"
                  style={{ paddingLeft: `${0.5 + Math.min(session.depth, 6) * 0.75}rem` }}
                  href={hrefOf({ at: 'session', sessionId: session.id })}
                >
                  <span className={`dot ${moodOf(session)}`} aria-hidden /> {session.label}
                </a>
                <LaneBars
                  lane={lane}
                  leftOf={leftOf}
                  trackPx={TRACK_PX}
                  workers={workers}
                  picked={picked}
                  onPick={setPicked}
                />
              </div>
            )
          })}
          <div className="timeline-marks" aria-hidden>
            {losses
              .map((loss) => ({ loss, left: leftOf(loss.at) }))
              .filter(({ left }) => left >= 0 && left <= 100)
              .map(({ loss, left }) => (
                <i key={`${loss.worker} ${loss.at}`} className="loss" style={{ left: `${left}%` }}>
                  <b>✕</b>
                </i>
              ))}
          </div>
        </div>
      </div>
      {picked && <BarDetails bar={picked} onClose={() => setPicked(undefined)} />}
    </section>
  )
}
