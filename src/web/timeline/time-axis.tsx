/** The axis of the time line: round times, folds, and a brush that picks a window. */
import { useRef, useState, type PointerEvent, type ReactNode, type WheelEvent } from 'react'
import { ticksIn, positionOf, type TimeScale, type TimeWindow } from './time-scale.ts'

interface TimeAxisProps {
  scale: TimeScale
  window: TimeWindow
  /** A window was brushed; places of the scale. */
  onPick(from: number, to: number): void
  onZoom(by: number, around: number): void
}

const MOST_TICKS = 7
/** A shorter brush is a click. */
const SHORTEST_BRUSH = 0.01

export function TimeAxis({ scale, window, onPick, onZoom }: TimeAxisProps): ReactNode {
  const axis = useRef<HTMLDivElement>(null)
  const [brush, setBrush] = useState<{ from: number; to: number }>()
  const size = window.to - window.from
  const percent = (place: number): number => ((place - window.from) / size) * 100
  const shareAt = (event: { clientX: number }): number => {
    const { left, width } = (axis.current as HTMLDivElement).getBoundingClientRect()
    return Math.min(1, Math.max(0, (event.clientX - left) / width))
  }
  const down = (event: PointerEvent): void => {
    axis.current?.setPointerCapture(event.pointerId)
    setBrush({ from: shareAt(event), to: shareAt(event) })
  }
  const up = (): void => {
    setBrush(undefined)
    if (!brush || Math.abs(brush.to - brush.from) < SHORTEST_BRUSH) return
    const [from, to] = [Math.min(brush.from, brush.to), Math.max(brush.from, brush.to)]
    onPick(window.from + from * size, window.from + to * size)
  }
  const wheel = (event: WheelEvent): void => onZoom(event.deltaY > 0 ? 1.2 : 0.8, window.from + shareAt(event) * size)
  const folds = scale.stretches.slice(1).map(({ place }) => place - scale.fold / 2)
  return (
    <div
      ref={axis}
      className="time-axis"
      onPointerDown={down}
      onPointerMove={(event) => brush && setBrush({ ...brush, to: shareAt(event) })}
      onPointerUp={up}
      onWheel={wheel}
      title="Drag to look closer"
      aria-hidden
    >
      {ticksIn(scale, window, MOST_TICKS).map((at) => (
        <span key={at} className="tick num" style={{ left: `${percent(positionOf(scale, at))}%` }}>
          {clock(at, size)}
        </span>
      ))}
      {folds
        .filter((place) => place > window.from && place < window.to)
        .map((place) => (
          <span key={place} className="fold" style={{ left: `${percent(place)}%` }} title="Nothing ran here">
            ≈
          </span>
        ))}
      {brush && (
        <span
          className="brush"
          style={{
            left: `${Math.min(brush.from, brush.to) * 100}%`,
            width: `${Math.abs(brush.to - brush.from) * 100}%`,
          }}
        />
      )}
    </div>
  )
}

/** Seconds where they tell times apart, and less where seconds do not. */
function clock(at: number, size: number): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const minute = `${two(date.getHours())}:${two(date.getMinutes())}`
  if (size > 600_000) return minute
  const second = `${minute}:${two(date.getSeconds())}`
  return size > 5_000 ? second : `${second}.${String(date.getMilliseconds()).padStart(3, '0').slice(0, 2)}`
}
