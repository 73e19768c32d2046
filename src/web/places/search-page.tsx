/** Records in which the searched words occur, with the words marked. */
import { useEffect, useState, type ReactNode } from 'react'
import { toFailure, type ApiFailure } from '../server/api-failure.ts'
import { api } from '../server/api.ts'
import { FindForm } from '../find-form.tsx'
import { hrefOf } from '../route.ts'
import { ago } from '../tree/doing.ts'
import type { SearchHit } from '../server/wire.ts'
import './search.css'

const LIMIT = 50

/** @param props.q what is searched for */
export function SearchPage({ q }: { q: string }): ReactNode {
  const [found, setFound] = useState<{ hits?: SearchHit[]; failure?: ApiFailure }>({})
  useEffect(() => {
    let over = false
    setFound({})
    if (q === '') return undefined
    api.search(q, { limit: LIMIT }).then(
      (hits) => over || setFound({ hits }),
      (thrown: unknown) => over || setFound({ failure: toFailure(thrown) }),
    )
    return () => {
      over = true
    }
  }, [q])
  const { hits, failure } = found
  return (
    <div className="narrow">
      <div className="head">
        <h1>Search</h1>
        {hits && (
          <span className="quiet">{hits.length === LIMIT ? `the newest ${LIMIT}` : `${hits.length} found`}</span>
        )}
      </div>
      <div className="on-phones">
        <FindForm key={q} asked={q} />
      </div>
      {q === '' && <p className="empty">Type what a transcript should say.</p>}
      {failure && <p className="empty">{failure.message}</p>}
      {q !== '' && !hits && !failure && <p className="empty">Searching…</p>}
      {hits?.length === 0 && <p className="empty">No transcript says “{q}”.</p>}
      <ol className="hits">
        {hits?.map((hit) => (
          <li key={`${hit.sessionId}/${hit.seq}`}>
            <Hit hit={hit} />
          </li>
        ))}
      </ol>
    </div>
  )
}

function Hit({ hit: { sessionId, label, agent, role, at, seq, snippet } }: { hit: SearchHit }): ReactNode {
  return (
    <a className="hit" href={hrefOf({ at: 'session', sessionId, record: seq })}>
      <span className="where">
        <b>{label}</b> <span className="quiet">{agent}</span>
        <span className="quiet num">
          {role} · record {seq} · {ago(at, Date.now())}
        </span>
      </span>
      <span className="snippet">
        {snippet.map(({ text, hit }, index) => (hit ? <mark key={index}>{text}</mark> : text))}
      </span>
    </a>
  )
}
