/** The view of one session: its conversation, the tree it belongs to, the time line of that tree, what it has used. */
import { loadAgain } from '../server/load-again.ts'
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react'
import { api } from '../server/api.ts'
import { hrefOf } from '../route.ts'
import { ForkTree } from '../tree/fork-tree.tsx'
import { moodOf, MOOD_WORDS } from '../tree/doing.ts'
import { flatTree, pathTo } from '../tree/tree-rows.ts'
import { useNow } from '../use-now.ts'
import { usePolled } from '../server/use-polled.ts'
import type { Session, Tree } from '../server/wire.ts'
import { Composer } from './composer.tsx'
import { tokens } from './entry-view.tsx'
import { Holdups } from './holdups.tsx'
import { SessionActions } from './session-actions.tsx'
import { Transcript } from './transcript.tsx'
import { useConversation } from './use-conversation.ts'
import { useOutbox } from './use-outbox.ts'
import './conversation.css'

const TimeLine = lazy(async () => ({ default: (await loadAgain(() => import('../timeline/time-line.tsx'))).TimeLine }))
const StatsView = lazy(async () => ({ default: (await loadAgain(() => import('./stats-view.tsx'))).StatsView }))

const TABS = ['Conversation', 'Tree', 'Time line', 'Stats'] as const
type Tab = (typeof TABS)[number]

/** The stream tells of the session itself. Of the others of its tree nothing does: one that lives is looked at more often. */
const AWAKE_MS = 2000
const ASLEEP_MS = 10_000
/** Events that come together are one reason to look. */
const NEWS_MS = 200

/** @param props.sessionId the session that the address names @param props.record the record that it leads to */
export function SessionPage({ sessionId, record }: { sessionId: string; record?: number }): ReactNode {
  const [tab, setTab] = useState<Tab>('Conversation')
  const [every, setEvery] = useState(AWAKE_MS)
  const now = useNow(1000)
  const { conversation, stream } = useConversation(sessionId)
  const outbox = useOutbox(sessionId)
  const read = usePolled(sessionId, readPlace, { everyMs: every })
  const { answer: place, again } = read
  useEffect(() => {
    if (conversation.next === 0) return undefined
    const timer = setTimeout(again, NEWS_MS)
    return () => clearTimeout(timer)
  }, [conversation.next, again])
  if (!place) {
    const failure = read.failure ?? (stream.is === 'refused' ? stream.failure : undefined)
    return <p className="empty">{failure ? `${failure.message}. ${failure.hint ?? ''}` : 'Loading…'}</p>
  }
  const { session, tree } = place
  const all = flatTree(tree)
  const isAwake = all.some(({ state }) => state === 'running' || state === 'waiting')
  if (every !== (isAwake ? AWAKE_MS : ASLEEP_MS)) setEvery(isAwake ? AWAKE_MS : ASLEEP_MS)
  const here = pathTo(tree, sessionId)
  const own = here.at(-1)
  return (
    <div className={`session tab-${TABS.indexOf(tab)}`}>
      <header className="session-head">
        <div className="session-title">
          <nav aria-label="Path" className="path">
            {here.slice(0, -1).map(({ id, label }) => (
              <span key={id}>
                <a href={hrefOf({ at: 'session', sessionId: id })}>{label}</a> <span aria-hidden>/</span>{' '}
              </span>
            ))}
          </nav>
          <h1>{session.label}</h1>
          <span className={`state ${session.state}`}>{MOOD_WORDS[moodOf(session)]}</span>
          <span className="facts num">
            {session.agent}
            {session.profile !== undefined && ` · ${session.profile}`} · {tokens(conversation.usage)}
          </span>
        </div>
        <SessionActions
          session={session}
          hasForks={(own?.children.length ?? 0) > 0}
          running={session.state === 'running' || session.state === 'waiting'}
          onDone={again}
        />
        <div className="tabs" role="tablist" aria-label="Views of the session">
          {TABS.map((name) => (
            <button
              key={name}
              role="tab"
              id={`tab-${TABS.indexOf(name)}`}
              aria-selected={tab === name}
              aria-controls="session-panel"
              onClick={() => setTab(name)}
            >
              {name}
              {name === 'Tree' && all.length > 1 && <span className="num count"> {all.length}</span>}
            </button>
          ))}
        </div>
      </header>
      <div className="session-panel" id="session-panel" role="tabpanel" aria-labelledby={`tab-${TABS.indexOf(tab)}`}>
        {tab === 'Conversation' && (
          <div className="talk">
            <Transcript
              conversation={conversation}
              sending={outbox.sending}
              {...(record !== undefined && { record })}
              again={(id) => void outbox.again(id)}
              nameOf={(id) => all.find((one) => one.id === id)?.label ?? id}
              now={now}
            />
            <Holdups session={session} weather={conversation.weather} now={now} onDone={again} />
            <Composer
              sessionId={sessionId}
              closed={session.state === 'closed'}
              busy={conversation.turn !== undefined}
              send={outbox.send}
            />
          </div>
        )}
        {tab === 'Tree' && <ForkTree tree={tree} here={sessionId} now={now} />}
        <Suspense fallback={<p className="empty">Loading…</p>}>
          {tab === 'Time line' && <TimeLine tree={tree} here={sessionId} now={now} isAwake={isAwake} />}
          {tab === 'Stats' && <StatsView sessionId={sessionId} />}
        </Suspense>
      </div>
      {tab === 'Conversation' && all.length > 1 && (
        <aside className="session-tree" aria-label="The tree it belongs to">
          <ForkTree tree={tree} here={sessionId} now={now} />
        </aside>
      )}
    </div>
  )
}

/** The session, and the whole tree that it belongs to. */
async function readPlace(id: string): Promise<{ session: Session; tree: Tree }> {
  const session = await api.session(id)
  return { session, tree: await api.tree(session.rootId) }
}
