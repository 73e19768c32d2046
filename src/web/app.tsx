/** The page: the bar, and the view that the address names. A view that is not needed first is loaded when it is. */
import { lazy, Suspense, type ReactNode } from 'react'
import { Bar } from './bar.tsx'
import { Notices } from './notices.tsx'
import type { Route } from './route.ts'
import { useRoute } from './use-route.ts'

const SessionPage = lazy(async () => ({ default: (await import('./conversation/session-page.tsx')).SessionPage }))

/** Everything. */
export function App(): ReactNode {
  const route = useRoute()
  return (
    <>
      <Bar route={route} waiting={0} />
      <main className={route.at === 'session' ? 'wide' : ''}>
        <Suspense fallback={<p className="empty">Loading…</p>}>
          <View route={route} />
        </Suspense>
      </main>
      <Notices />
    </>
  )
}

function View({ route }: { route: Route }): ReactNode {
  switch (route.at) {
    case 'session':
      return <SessionPage key={route.sessionId} sessionId={route.sessionId} />
    case 'roots':
    case 'inbox':
    case 'search':
    case 'permissions':
    case 'new':
      return <h1>{route.at}</h1>
    case 'nowhere':
      return <p className="empty">There is nothing here.</p>
  }
}
