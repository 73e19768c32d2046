/** The bar above every view: where one is, what waits, whether the server answers. */
import { useState, type ReactNode } from 'react'
import { useConnection, type Connection } from './server/link-state.ts'
import { FindForm } from './find-form.tsx'
import { hrefOf, type Route } from './route.ts'
import { keptTheme, turnTheme, type Theme } from './theme.ts'

const SAYS: Readonly<Record<Connection, string>> = {
  here: 'connected',
  locked: 'token needed',
  away: 'server away',
  'store-away': 'database away',
}
const THEME_SIGN: Readonly<Record<Theme, string>> = { system: '◐', light: '○', dark: '●' }

/** @param props.waiting how many items the inbox holds */
export function Bar({ route, waiting }: { route: Route; waiting: number }): ReactNode {
  const place = (at: 'roots' | 'inbox' | 'permissions', name: string): ReactNode => (
    <a href={hrefOf({ at })} aria-current={route.at === at ? 'page' : undefined}>
      {name} {at === 'inbox' && waiting > 0 && <span className="badge num">{waiting}</span>}
    </a>
  )
  return (
    <header className="bar">
      <a className="brand" href={hrefOf({ at: 'roots' })} aria-label="stello, all sessions">
        <Mark />
        <span>stello</span>
      </a>
      <nav aria-label="Views">
        {place('roots', 'Sessions')}
        {place('inbox', 'Inbox')}
        {place('permissions', 'Permissions')}
        <a className="on-phones" href={hrefOf({ at: 'search', q: '' })}>
          Search
        </a>
      </nav>
      <div className="room" />
      <FindForm key={route.at === 'search' ? route.q : ''} asked={route.at === 'search' ? route.q : ''} />
      <LinkState />
      <ThemeSwitch />
    </header>
  )
}

/** A session that forks. */
function Mark(): ReactNode {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" fill="none" stroke="currentColor" strokeWidth="1.8" aria-hidden>
      <path d="M4 2v14M4 7c0 4 9 1 9 6" strokeLinecap="round" />
      <circle cx="13" cy="14" r="2" fill="currentColor" stroke="none" />
    </svg>
  )
}

function LinkState(): ReactNode {
  const connection = useConnection()
  return (
    <span className={`link-state ${connection}`} role="status">
      {SAYS[connection]}
    </span>
  )
}

function ThemeSwitch(): ReactNode {
  const [theme, setTheme] = useState(keptTheme)
  return (
    <button
      className="bare"
      aria-label={`Colours: ${theme}`}
      title={`Colours: ${theme}`}
      onClick={() => setTheme(turnTheme)}
    >
      {THEME_SIGN[theme]}
    </button>
  )
}
