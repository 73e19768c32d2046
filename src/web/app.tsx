/** The page: the bar, and the view that the address names. A view that is not needed first is loaded when it is. */
import { loadAgain } from './server/load-again.ts'
import { lazy, Suspense, useEffect, type ReactNode, useSyncExternalStore } from 'react'
import { api } from './server/api.ts'
import { Bar } from './bar.tsx'
import { Fenced } from './fenced.tsx'
import { InboxPage } from './inbox/inbox-page.tsx'
import { KeyHelp } from './key-help.tsx'
import { useConnection } from './server/link-state.ts'
import { Notices } from './notices.tsx'
import { NewSessionPage } from './roots/new-session-page.tsx'
import { RootsPage } from './roots/roots-page.tsx'
import { type Route, parseRoute } from './route.ts'
import { TokenForm } from './token-form.tsx'
import { usePolled, type Polled } from './server/use-polled.ts'
import type { Waiting } from './server/wire.ts'
import { tryNow, useTrouble } from './server/tries.ts'
import { useNow } from './use-now.ts'

const SessionPage = lazy(async () => ({
  default: (await loadAgain(() => import('./conversation/session-page.tsx'))).SessionPage,
}))
const SearchPage = lazy(async () => ({
  default: (await loadAgain(() => import('./places/search-page.tsx'))).SearchPage,
}))
const PermissionsPage = lazy(async () => ({
  default: (await loadAgain(() => import('./places/permissions-page.tsx'))).PermissionsPage,
}))

const INBOX_EVERY_MS = 2500
/** The title of the tab says how much waits for a person, also while nobody sees the tab. */
const INBOX_HIDDEN_MS = 30_000

/** Everything. */
export function App(): ReactNode {
  const route = useRoute()
  const locked = useConnection() === 'locked'
  const inbox = usePolled('inbox', () => api.inbox(), { everyMs: INBOX_EVERY_MS, hiddenMs: INBOX_HIDDEN_MS })
  const waiting = inbox.answer?.length ?? 0
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) stello` : 'stello'
  }, [waiting])
  return (
    <>
      <Bar route={route} waiting={waiting} />
      {!locked && <LostStrip />}
      <main className={route.at === 'session' ? 'wide' : ''}>
        <Suspense fallback={<p className="empty">Loading…</p>}>
          {locked ? (
            <TokenForm />
          ) : (
            <Fenced
              key={JSON.stringify(route)}
              instead={<p className="empty">This view cannot be shown. The others can.</p>}
            >
              <View route={route} inbox={inbox} />
            </Fenced>
          )}
        </Suspense>
      </main>
      <Notices />
      <KeyHelp />
    </>
  )
}

function View({ route, inbox }: { route: Route; inbox: Polled<Waiting[]> }): ReactNode {
  switch (route.at) {
    case 'roots':
      return <RootsPage />
    case 'session':
      return <SessionPage key={route.sessionId} {...route} />
    case 'inbox':
      return <InboxPage inbox={inbox} />
    case 'search':
      return <SearchPage q={route.q} />
    case 'permissions':
      return <PermissionsPage />
    case 'new':
      return <NewSessionPage />
    case 'nowhere':
      return <p className="empty">There is nothing here.</p>
  }
}

/** Says that something does not work now and when it is tried again, and lets a person try it at once. */
function LostStrip(): ReactNode {
  const trouble = useTrouble()
  return trouble && <Strip {...trouble} />
}

function Strip({ failure, nextTry }: NonNullable<ReturnType<typeof useTrouble>>): ReactNode {
  const now = useNow(250)
  const seconds = nextTry === undefined ? 0 : Math.ceil((nextTry - now) / 1000)
  return (
    <div className="lost">
      <span role="status">{failure.status === 0 ? 'Connection lost' : failure.message}</span>
      <span className="num">{seconds > 0 ? `trying again in ${seconds} s` : 'trying again …'}</span>
      <button onClick={tryNow} disabled={seconds <= 0}>
        Try now
      </button>
    </div>
  )
}

/** The place that the address names now. */
function useRoute(): Route {
  return parseRoute(useSyncExternalStore(listen, () => location.hash))
}

function listen(changed: () => void): () => void {
  addEventListener('hashchange', changed)
  return () => removeEventListener('hashchange', changed)
}
