/** All trees: what they do, what waits, what they have used. Only the rows on the screen are in the document. */
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { api } from '../server/api.ts'
import type { SessionStatus } from '../../client/index.ts'
import { hrefOf } from '../route.ts'
import { useKeys } from '../use-keys.ts'
import { useNow } from '../use-now.ts'
import { usePolled } from '../server/use-polled.ts'
import type { Agent, Root } from '../server/wire.ts'
import { RootRow } from './root-row.tsx'
import { useRoots } from './use-roots.ts'
import './roots.css'

const STATES: readonly SessionStatus[] = ['running', 'waiting', 'paused', 'idle', 'closed']
const ROW_PX = 38

/** The first view. */
export function RootsPage(): ReactNode {
  const [state, setState] = useState<SessionStatus>()
  const [agent, setAgent] = useState('')
  const { answer: agents = [] } = usePolled('agents', api.agents, { everyMs: 10_000 })
  const { roots, failure, shows } = useRoots({ ...(state && { state }), agent })
  return (
    <>
      <div className="head">
        <h1>Sessions</h1>
        <StateFilter state={state} onChange={setState} />
        <AgentFilter agents={agents} agent={agent} onChange={setAgent} />
        <a className="button primary" href={hrefOf({ at: 'new' })}>
          New session
        </a>
      </div>
      {!roots && !failure && <p className="empty">Loading…</p>}
      {!roots && failure && <p className="empty">{failure.message}</p>}
      {roots?.length === 0 && <Nothing filtered={state !== undefined || agent !== ''} />}
      {roots && roots.length > 0 && <RootList roots={roots} shows={shows} />}
    </>
  )
}

function Nothing({ filtered }: { filtered: boolean }): ReactNode {
  if (filtered) return <p className="empty">No session is like that.</p>
  return (
    <div className="empty">
      <p>No sessions yet.</p>
      <p>
        <a href={hrefOf({ at: 'new' })}>Start the first one</a>, or press <kbd>n</kbd>.
      </p>
    </div>
  )
}

function StateFilter(props: { state: SessionStatus | undefined; onChange(state?: SessionStatus): void }): ReactNode {
  const button = (name: string, value?: SessionStatus): ReactNode => (
    <button key={name} aria-pressed={props.state === value} onClick={() => props.onChange(value)}>
      {name}
    </button>
  )
  return (
    <div className="segments" role="group" aria-label="State">
      {button('all')}
      {STATES.map((each) => button(each, each))}
    </div>
  )
}

function AgentFilter(props: { agents: readonly Agent[]; agent: string; onChange(agent: string): void }): ReactNode {
  if (props.agents.length < 2) return null
  return (
    <select
      className="agents"
      aria-label="Agent"
      value={props.agent}
      onChange={(event) => props.onChange(event.target.value)}
    >
      <option value="">all agents</option>
      {props.agents.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  )
}

function RootList({ roots, shows }: { roots: readonly Root[]; shows(first: number, last: number): void }): ReactNode {
  const now = useNow(5000)
  const list = useRef<HTMLUListElement>(null)
  const virtual = useWindowVirtualizer({
    count: roots.length,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollMargin: list.current?.offsetTop ?? 0,
    getItemKey: (index) => roots[index]?.id ?? index,
  })
  const rows = virtual.getVirtualItems()
  const first = rows[0]?.index ?? 0
  const last = rows.at(-1)?.index ?? 0
  useEffect(() => shows(first, last), [shows, first, last, roots])

  const move = (by: number): void => {
    const at = document.activeElement?.closest<HTMLElement>('[data-index]')?.dataset['index']
    const next = Math.max(0, Math.min(roots.length - 1, at === undefined ? 0 : Number(at) + by))
    virtual.scrollToIndex(next, { align: 'auto' })
    const link = (): HTMLElement | null | undefined => list.current?.querySelector(`a[data-index="${next}"]`)
    // A row that is there takes the next key; one that is not is drawn first.
    if (link()) link()?.focus()
    else requestAnimationFrame(() => link()?.focus())
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  return (
    <div className="roots card">
      <div className="root-row columns" aria-hidden>
        <span>State</span>
        <span>Session</span>
        <span>Agent</span>
        <span />
        <span className="num">Sessions</span>
        <span className="num">Tokens</span>
        <span className="num">Cost</span>
        <span className="num">Age</span>
      </div>
      <ul ref={list} style={{ height: virtual.getTotalSize() }} aria-label={`${roots.length} sessions`}>
        {rows.map(({ index, key, start }) => (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
          >
            <RootRow root={roots[index]!} now={now} index={index} />
          </li>
        ))}
      </ul>
    </div>
  )
}
