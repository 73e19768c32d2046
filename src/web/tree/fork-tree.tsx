/** The fork tree: who there is, what each one does, where it branched. Arrow keys move, Enter opens. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { go, hrefOf } from '../route.ts'
import type { Tree } from '../server/wire.ts'
import { doing, MOOD_WORDS, moodOf, MOODS, type Mood } from './doing.ts'
import { flatTree, restKey, treeRows, type Folds, type SessionRow, type TreeRow } from './tree-rows.ts'
import './tree.css'

const ROW_PX = 40
/** From so many sessions on, a field of squares shows them all at once. */
const FIELD_FROM = 25

/** @param props.here the session that is looked at */
export function ForkTree({ tree, here, now }: { tree: Tree; here: string; now: number }): ReactNode {
  const [only, setOnly] = useState<Mood>()
  const all = flatTree(tree)
  const shown = only === undefined ? undefined : all.filter((session) => moodOf(session) === only)
  return (
    <section className="tree" aria-label="Fork tree">
      <div className="tree-moods" role="group" aria-label="Show only">
        {MOODS.map((mood) => {
          const count = all.filter((session) => moodOf(session) === mood).length
          return (
            count > 0 && (
              <button
                key={mood}
                className={`mood ${mood}`}
                aria-pressed={only === mood}
                onClick={() => setOnly(only === mood ? undefined : mood)}
              >
                <b className="num">{count}</b> {MOOD_WORDS[mood]}
              </button>
            )
          )
        })}
      </div>
      {all.length >= FIELD_FROM && <Field sessions={all} here={here} />}
      <Rows key={only ?? 'tree'} tree={tree} flat={shown} here={here} now={now} />
    </section>
  )
}

/** Every session as a square, in the order of the tree. The rows below say the same in words. */
function Field({ sessions, here }: { sessions: readonly Tree[]; here: string }): ReactNode {
  return (
    <div className="tree-field" aria-hidden>
      {sessions.map((session) => (
        <a
          key={session.id}
          tabIndex={-1}
          className={`${moodOf(session)}${session.id === here ? ' here' : ''}`}
          href={hrefOf({ at: 'session', sessionId: session.id })}
          title={`${session.label} · ${MOOD_WORDS[moodOf(session)]}`}
        />
      ))}
    </div>
  )
}

interface RowsProps {
  tree: Tree
  /** Only these, as a list. */
  flat: readonly Tree[] | undefined
  here: string
  now: number
}

function Rows({ tree, flat, here, now }: RowsProps): ReactNode {
  const [folds, setFolds] = useState<Folds>(new Map())
  const [at, setAt] = useState<string>(here)
  const scroller = useRef<HTMLDivElement>(null)
  const rows: TreeRow[] = flat
    ? flat.map((session) => ({ kind: 'session', session, guides: [], isLast: true, below: 0, isOpen: false }))
    : treeRows(tree, here, folds)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  })
  const place = Math.max(
    0,
    rows.findIndex((row) => keyOf(row) === at),
  )
  useEffect(() => {
    const index = rows.findIndex((row) => keyOf(row) === here)
    if (index > 0) virtual.scrollToIndex(index, { align: 'center' })
    // Once: afterwards the person decides what is seen.
  }, [])
  const fold = (key: string, isOpen: boolean): void => setFolds((before) => new Map(before).set(key, isOpen))
  const moveTo = (index: number): void => {
    const row = rows[Math.min(Math.max(0, index), rows.length - 1)]
    if (!row) return
    setAt(keyOf(row))
    virtual.scrollToIndex(rows.indexOf(row))
    scroller.current?.focus()
  }
  const onKey = (event: KeyboardEvent): void => {
    const row = rows[place]
    if (!row || event.target !== scroller.current) return
    const parent = row.kind === 'rest' ? row.parentId : row.session.parentId
    const does: Record<string, () => void> = {
      ArrowDown: () => moveTo(place + 1),
      ArrowUp: () => moveTo(place - 1),
      Home: () => moveTo(0),
      End: () => moveTo(rows.length - 1),
      ArrowRight: () => {
        if (row.kind === 'rest') fold(restKey(row.parentId), true)
        else if (row.below > 0 && !row.isOpen) fold(row.session.id, true)
        else moveTo(place + 1)
      },
      ArrowLeft: () => {
        if (row.kind === 'session' && row.below > 0 && row.isOpen) fold(row.session.id, false)
        else moveTo(rows.findIndex((one) => keyOf(one) === parent))
      },
      Enter: () => {
        if (row.kind === 'rest') fold(restKey(row.parentId), true)
        else go({ at: 'session', sessionId: row.session.id })
      },
    }
    const act = does[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  return (
    <div
      ref={scroller}
      className="tree-rows"
      role="tree"
      aria-label="Sessions"
      tabIndex={0}
      aria-activedescendant={`tree-${place}`}
      onKeyDown={onKey}
    >
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="presentation">
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index] as TreeRow
          return (
            <div
              key={keyOf(row)}
              id={`tree-${index}`}
              role="treeitem"
              aria-level={row.guides.length + 1}
              aria-selected={keyOf(row) === here}
              aria-expanded={row.kind === 'session' && row.below > 0 ? row.isOpen : undefined}
              className={`tree-row${index === place ? ' at' : ''}${keyOf(row) === here ? ' here' : ''}`}
              style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
            >
              <Guides row={row} flat={flat !== undefined} />
              {row.kind === 'rest' ? (
                <button className="tree-rest" tabIndex={-1} onClick={() => fold(restKey(row.parentId), true)}>
                  <span className="num">{row.count}</span> quiet
                </button>
              ) : (
                <SessionLine row={row} now={now} fold={fold} />
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

function keyOf(row: TreeRow): string {
  return row.kind === 'rest' ? restKey(row.parentId) : row.session.id
}

/** The lines that lead from a session to its parent. */
function Guides({ row, flat }: { row: TreeRow; flat: boolean }): ReactNode {
  const isRoot = row.kind === 'session' && row.session.depth === 0
  if (flat || isRoot) return null
  return (
    <span className="tree-guides" aria-hidden>
      {row.guides.map((goesOn, level) => (
        <i key={level} className={goesOn ? 'on' : ''} />
      ))}
      <i className={row.isLast ? 'end' : 'fork'} />
    </span>
  )
}

function SessionLine({
  row: { session, below, isOpen },
  now,
  fold,
}: {
  row: SessionRow
  now: number
  fold(id: string, isOpen: boolean): void
}): ReactNode {
  const mood = moodOf(session)
  const does = doing(session, now)
  return (
    <>
      <button
        className={`tree-dot${below > 0 && isOpen ? ' opens' : ''}`}
        tabIndex={-1}
        disabled={below === 0}
        aria-label={
          below === 0 ? MOOD_WORDS[mood] : `${MOOD_WORDS[mood]}; ${isOpen ? 'fold' : 'unfold'} ${below} below`
        }
        onClick={() => fold(session.id, !isOpen)}
      >
        <span className={`dot ${mood}`} />
      </button>
      <a className="tree-line" tabIndex={-1} href={hrefOf({ at: 'session', sessionId: session.id })}>
        <span className="tree-name">
          <b>{session.label}</b>
          {session.profile !== undefined && <em>{session.profile}</em>}
          {below > 0 && !isOpen && <span className="tree-below num">+{below}</span>}
          <span className={`tree-mood ${mood}`}>{MOOD_WORDS[mood]}</span>
        </span>
        <span className="tree-facts">
          {does !== '' && <span className={`tree-does ${mood}`}>{does}</span>}
          <span className="num">{branchText(session)}</span>
        </span>
      </a>
    </>
  )
}

/** Where it branched, whether it took a history with it, how far it is. */
function branchText({ branch, turns }: Tree): string {
  const from = branch?.turn === undefined ? undefined : `↳ turn ${branch.turn}`
  const took = branch?.seq === undefined ? undefined : `inherits to #${branch.seq}`
  const own = turns === 0 ? undefined : `${turns} ${turns === 1 ? 'turn' : 'turns'}`
  return [from, took, own].filter((part) => part !== undefined).join(' · ')
}
