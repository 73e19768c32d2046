/** The transcript: only what is seen is drawn. It stays at its end while one is there. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import type { Conversation } from './conversation-state.ts'
import { EntryView, StreamingView } from './entry-view.tsx'
import { rowOfRecord, rowsOf, type Row } from './transcript-rows.ts'

/** So near to the end is at the end. */
const NEAR_PX = 80

interface TranscriptProps {
  conversation: Conversation
  /** The record to begin at. Unset: the end. */
  record?: number
  /** Messages on their way: nothing has happened to them yet. */
  sending: readonly { messageId: string; text: string; failed: boolean }[]
  /** Sends a message again that has failed. */
  again(messageId: string): void
  /** The name of another session of the tree. */
  nameOf(sessionId: string): string
  now: number
}

export function Transcript({ conversation, record, sending, again, nameOf, now }: TranscriptProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null)
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const [atEnd, setAtEnd] = useState(record === undefined)
  const rows = useMemo(() => rowsOf(conversation, sending, unfolded), [conversation, sending, unfolded])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 90,
    getItemKey: (index) => (rows[index] as Row).key,
    overscan: 6,
  })
  const height = virtual.getTotalSize()
  const found = record === undefined ? -1 : rowOfRecord(rows, record)
  /** A person has taken over: from now on only that person says what is seen. */
  const isMoved = useRef(record === undefined)
  useEffect(() => {
    if (found !== -1 && !isMoved.current) virtual.scrollToIndex(found, { align: 'center' })
    // While records come in, there may not have been enough below it.
  }, [found, rows.length, virtual])
  useLayoutEffect(() => {
    const element = scroller.current
    if (atEnd && element) element.scrollTop = element.scrollHeight
  }, [atEnd, height, rows])
  useEffect(() => {
    const element = scroller.current
    if (!element) return undefined
    const watcher = new ResizeObserver(() => {
      if (atEnd) element.scrollTop = element.scrollHeight
    })
    watcher.observe(element)
    return () => watcher.disconnect()
  }, [atEnd])
  // Only a person who scrolls up leaves the end: rows that turn out smaller than estimated move it up too.
  const last = useRef({ top: 0, height: 0 })
  const scrolled = (): void => {
    const { scrollTop: top, scrollHeight, clientHeight } = scroller.current as HTMLDivElement
    const hasShrunk = scrollHeight < last.current.height
    if (isMoved.current && scrollHeight - top - clientHeight < NEAR_PX) setAtEnd(true)
    else if (top < last.current.top - 2 && !hasShrunk) setAtEnd(false)
    last.current = { top, height: scrollHeight }
  }
  const move = (): void => void (isMoved.current = true)
  return (
    <div className="transcript">
      <div
        ref={scroller}
        className="transcript-scroll"
        onScroll={scrolled}
        onWheel={move}
        onPointerDown={move}
        onTouchMove={move}
        onKeyDown={move}
        tabIndex={0}
        role="log"
        aria-label="Transcript"
      >
        {rows.length === 0 && <p className="empty">Nothing was said yet.</p>}
        <div className="transcript-rows" style={{ height }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={`transcript-row${index === found ? ' found' : ''}`}
              style={{ transform: `translateY(${start}px)` }}
            >
              <RowView
                row={rows[index] as Row}
                again={again}
                nameOf={nameOf}
                now={now}
                unfold={(owner) => setUnfolded((before) => toggled(before, owner))}
              />
            </div>
          ))}
        </div>
      </div>
      {!atEnd && (
        <button className="to-end" onClick={() => (move(), setAtEnd(true))}>
          ↓ to the end
        </button>
      )}
    </div>
  )
}

function RowView({
  row,
  again,
  nameOf,
  now,
  unfold,
}: {
  row: Row
  again(messageId: string): void
  nameOf(sessionId: string): string
  now: number
  unfold(owner: string): void
}): ReactNode {
  switch (row.kind) {
    case 'entry':
      return <EntryView entry={row.entry} now={now} />
    case 'streaming':
      return <StreamingView streaming={row.streaming} now={now} />
    case 'inherited':
      return (
        <div className="entry inherited-head">
          <button className="bare" aria-expanded={row.isOpen} onClick={() => unfold(row.owner)}>
            {row.isOpen ? '▾' : '▸'} {row.count} {row.count === 1 ? 'record' : 'records'} from{' '}
            <b>{nameOf(row.owner)}</b>
          </button>
        </div>
      )
    case 'sending':
      return (
        <div className={`entry said user sending${row.failed ? ' failed' : ''}`}>
          <p className="who">
            You · {row.failed ? 'not sent' : 'queued'}
            {row.failed && (
              <button className="bare" onClick={() => again(row.key)}>
                send again
              </button>
            )}
          </p>
          <p className="plain">{row.text}</p>
        </div>
      )
  }
}

function toggled(before: ReadonlySet<string>, owner: string): ReadonlySet<string> {
  const after = new Set(before)
  if (!after.delete(owner)) after.add(owner)
  return after
}
