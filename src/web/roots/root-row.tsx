/** One root in the list: state, label, what it is about, what it has used. */
import type { ReactNode } from 'react'
import { age, amount, dollars } from '../amount.ts'
import { hrefOf } from '../route.ts'
import { doing, moodOf, MOOD_WORDS } from '../tree/doing.ts'
import type { Root } from '../server/wire.ts'

/** @param props.now milliseconds since 1970 */
export function RootRow({ root, now, index }: { root: Root; now: number; index: number }): ReactNode {
  const { id, label, agent, profile, tree, createdAt } = root
  const mood = moodOf(root)
  const about = doing(root, now)
  const tokens = tree.inputTokens + tree.outputTokens
  return (
    <a
      className="root-row"
      href={hrefOf({ at: 'session', sessionId: id })}
      data-index={index}
      title={`${label}\n${id}`}
    >
      <span className={`state ${mood}`}>{MOOD_WORDS[mood]}</span>
      <span className="what">
        <span className="label">{label}</span>
        {about !== '' && <span className={`about ${mood}`}>{about}</span>}
      </span>
      <span className="agent">{profile === undefined ? agent : `${agent} · ${profile}`}</span>
      <span className="waits num">
        {tree.waiting > 0 && (
          <span className="badge" title={`${tree.waiting} in its tree wait for a person`}>
            {tree.waiting}
            <span className="hidden-label"> waiting</span>
          </span>
        )}
      </span>
      <span className="sessions num" title={`${tree.sessions} sessions, ${tree.open} open`}>
        {tree.sessions}
        <span className="unit"> {tree.sessions === 1 ? 'session' : 'sessions'}</span>
      </span>
      <span className="tokens num" title={`${tree.inputTokens} tokens in, ${tree.outputTokens} out`}>
        {amount(tokens)}
        <span className="unit"> tokens</span>
      </span>
      <span className="cost num">{tree.costUsd === undefined ? '' : dollars(tree.costUsd)}</span>
      <time className="age num" dateTime={createdAt} title={new Date(createdAt).toLocaleString()}>
        {age(createdAt, now)}
      </time>
    </a>
  )
}
