/** The page: the bar, and the view that the address names. A view that is not needed first is loaded when it is. */
import { loadAgain } from './server/load-again.ts'
import { lazy, Suspense, useEffect, type ReactNode } from 'react'
import { api } from './server/api.ts'
import { Bar } from './bar.tsx'
import { Fenced } from './fenced.tsx'
import { InboxPage } from './inbox/inbox-page.tsx'
import { KeyHelp } from './key-help.tsx'
import { LostStrip } from './lost-strip.tsx'
import { useConnection } from './server/link-state.ts'
import { Notices } from './notices.tsx'
import { NewSessionPage } from './roots/new-session-page.tsx'
import { RootsPage } from './roots/roots-page.tsx'
import type { Route } from './route.ts'
import { TokenForm } from './token-form.tsx'
import { usePolled, type Polled } from './server/use-polled.ts'
import { useRoute } from './use-route.ts'
import type { Waiting } from './server/wire.ts'

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
  const inbox = usePolled('inbox', INBOX_EVERY_MS, () => api.inbox(), INBOX_HIDDEN_MS)
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
