/** Which part of the time is seen, with the keys and buttons that change it. */
import { useState, type KeyboardEvent, type ReactNode } from 'react'
import { following, moved, zoomed, type TimeScale, type TimeWindow } from './time-scale.ts'

interface TimeWindowInUse {
  window: TimeWindow
  /** All of the time is seen. */
  isWhole: boolean
  /** The window goes on with the time. */
  follows: boolean
  look(next: TimeWindow): void
  /** The action of each key. */
  keys: Readonly<Record<string, () => void>>
  onKey(event: KeyboardEvent): void
}

export function useTimeWindow(scale: TimeScale): TimeWindowInUse {
  const [chosen, setChosen] = useState<TimeWindow & { follows: boolean }>()
  const window = chosen ? (chosen.follows ? following(scale, chosen) : chosen) : { from: 0, to: scale.length }
  const look = (next: TimeWindow): void =>
    setChosen(next.to - next.from >= scale.length ? undefined : { ...next, follows: next.to >= scale.length - 1 })
  const size = window.to - window.from
  const keys: Record<string, () => void> = {
    '+': () => look(zoomed(scale, window, { by: 0.6 })),
    '=': () => look(zoomed(scale, window, { by: 0.6 })),
    '-': () => look(zoomed(scale, window, { by: 1.6 })),
    ArrowLeft: () => look(moved(scale, window, -size / 6)),
    ArrowRight: () => look(moved(scale, window, size / 6)),
    '0': () => setChosen(undefined),
    f: () => look(moved(scale, window, scale.length)),
  }
  const onKey = (event: KeyboardEvent): void => {
    const act = event.ctrlKey || event.metaKey ? undefined : keys[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  return { window, isWhole: !chosen, follows: chosen?.follows ?? false, look, keys, onKey }
}

export function ZoomButtons({
  keys,
  isWhole,
  follows,
}: Pick<TimeWindowInUse, 'keys' | 'isWhole' | 'follows'>): ReactNode {
  return (
    <div role="group" aria-label="Zoom" className="timeline-zoom">
      <button aria-label="Zoom out" onClick={keys['-']}>
        −
      </button>
      <button aria-label="Zoom in" onClick={keys['+']}>
        +
      </button>
      <button onClick={keys['f']} disabled={isWhole || follows}>
        now
      </button>
      <button onClick={keys['0']} disabled={isWhole}>
        all
      </button>
    </div>
  )
}
