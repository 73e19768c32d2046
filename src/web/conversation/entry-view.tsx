/** One entry of the transcript. */
import { loadAgain } from '../server/load-again.ts'
import { lazy, memo, Suspense, useState, type ReactNode } from 'react'
import { amount } from '../amount.ts'
import { hrefOf } from '../route.ts'
import { span } from '../tree/doing.ts'
import type { Usage } from '../../core/message.ts'
import type { AnswerEntry, Card, Entry, Happening, Streaming } from './entries.ts'
import { Fenced } from '../fenced.tsx'
import { Images } from './images.tsx'
import { isReadable } from '../../core/is-readable.ts'
import { ToolCard } from './tool-card.tsx'

const Markdown = lazy(async () => ({ default: (await loadAgain(() => import('./markdown.tsx'))).Markdown }))

/** Markdown; the plain text until the code for it is there, and for what no reader of Markdown survives. */
function Text({ text }: { text: string }): ReactNode {
  if (text === '') return null
  const plain = <p className="plain">{text}</p>
  if (!isReadable(text)) return plain
  return (
    <Fenced instead={plain}>
      <Suspense fallback={plain}>
        <Markdown text={text} />
      </Suspense>
    </Fenced>
  )
}

/** Nothing happens to most entries while another one streams. */
export const EntryView: (props: { entry: Entry; now: number }) => ReactNode = memo(
  ({ entry, now }: { entry: Entry; now: number }) => {
    const faded = entry.summarised ? ' summarised' : ''
    switch (entry.kind) {
      case 'message':
        return (
          <div className={`entry said ${entry.role}${faded}`}>
            <p className="who">
              {entry.role === 'user' ? 'You' : 'System'} <Where entry={entry} />
            </p>
            <p className="plain">{entry.text}</p>
            {entry.parts && <Images parts={entry.parts} />}
          </div>
        )
      case 'answer':
        return <Answer entry={entry} now={now} faded={faded} />
      case 'note':
        return <Note note={entry.note} at={entry.at} />
    }
  },
  (before, after) => before.entry === after.entry && (before.now === after.now || !isRunning(after.entry)),
)

function isRunning(entry: Entry): boolean {
  return entry.kind === 'answer' && entry.cards.some(({ status }) => status === 'DOING')
}

/** A record has a number, which forks are made at. */
function Where({ entry }: { entry: Entry }): ReactNode {
  if (entry.seq <= 0) return null
  return <span className="seq num">#{entry.seq}</span>
}

function Answer({ entry, now, faded }: { entry: AnswerEntry; now: number; faded: string }): ReactNode {
  return (
    <div className={`entry answer${faded}`}>
      <p className="who">
        {entry.model ?? 'Agent'} <Where entry={entry} />
        {entry.usage && <span className="usage num">{tokens(entry.usage)}</span>}
        {entry.restarts > 0 && <span className="mark taken">begun again</span>}
      </p>
      {entry.reasoning !== undefined && <Reasoning text={entry.reasoning} />}
      <Text text={entry.text} />
      {entry.parts && <Images parts={entry.parts} />}
      <Cards cards={entry.cards} now={now} />
    </div>
  )
}

/** What streams now; its record replaces it. */
export function StreamingView({ streaming, now }: { streaming: Streaming; now: number }): ReactNode {
  const { model, restarts, text, reasoning, cards } = streaming
  return (
    <div className="entry answer streaming">
      <p className="who">
        {model ?? 'Agent'} {restarts > 0 && <span className="mark taken">begun again</span>}
      </p>
      {reasoning !== '' && <Reasoning text={reasoning} open={text === ''} />}
      <Text text={text} />
      {text === '' && cards.length === 0 && <span className="caret" aria-label="thinks" />}
      <Cards cards={cards} now={now} />
    </div>
  )
}

function Cards({ cards, now }: { cards: readonly Card[]; now: number }): ReactNode {
  if (cards.length === 0) return null
  return (
    <div className="cards">
      {cards.map((card) => (
        <ToolCard key={card.callId} card={card} now={now} />
      ))}
    </div>
  )
}

function Reasoning({ text, open = false }: { text: string; open?: boolean }): ReactNode {
  const [folded, setFolded] = useState<boolean>()
  const isOpen = folded === undefined ? open : !folded
  return (
    <div className="reasoning">
      <button className="bare" aria-expanded={isOpen} onClick={() => setFolded(isOpen)}>
        Thoughts
      </button>
      {isOpen && <p className="plain">{text}</p>}
    </div>
  )
}

function Note({ note, at }: { note: Happening; at: string }): ReactNode {
  const mark = note.is === 'turnEnded' ? (note.stopReason === 'end_turn' ? '' : ' odd') : ` ${note.is}`
  return (
    <div className={`entry note${mark}`}>
      <NoteText note={note} />
      <time dateTime={at}>{new Date(at).toLocaleTimeString()}</time>
    </div>
  )
}

function NoteText({ note }: { note: Happening }): ReactNode {
  switch (note.is) {
    case 'turnEnded':
      return (
        <span className="num">
          Turn {note.turn}
          {note.stopReason !== 'end_turn' && ` · ${note.stopReason.replaceAll('_', ' ')}`} · {tokens(note.usage)} ·{' '}
          {span(note.ms)}
        </span>
      )
    case 'forked':
      return (
        <span>
          ↳ Fork <a href={hrefOf({ at: 'session', sessionId: note.child })}>{note.label}</a>
        </span>
      )
    case 'paused':
      return (
        <span>
          Paused: {note.pause.message}
          {note.pause.hint !== undefined && <em> {note.pause.hint}</em>}
        </span>
      )
    case 'resumed':
      return <span>{note.tries === undefined ? 'Resumed' : `Tries by itself, try ${note.tries}`}</span>
    case 'compacted':
      return <Compacted note={note} />
    case 'rejected':
      return (
        <span>
          Refused: {note.reason} {note.preview !== undefined && <q>{note.preview}</q>}
        </span>
      )
    case 'quarantined':
      return (
        <span>
          {note.name} is not run again: {note.deaths} workers died while it ran
        </span>
      )
    case 'takenOver':
      return (
        <span>
          Worker {note.worker.slice(0, 8)} was lost while{' '}
          {note.kind === 'model' ? `the model call (${note.name})` : note.name} ran: another one has taken over
        </span>
      )
    case 'workspace':
      return <span>{note.lost ? `The working folder on ${note.host} is lost` : `Works on ${note.host}`}</span>
    case 'wentBack':
      return (
        <span>
          {note.restarted ? 'Started anew' : 'Reset in Temporal: what came after is left behind'} · generation{' '}
          {note.generation}
        </span>
      )
    case 'closed':
      return <span>Closed</span>
  }
}

function Compacted({ note }: { note: Extract<Happening, { is: 'compacted' }> }): ReactNode {
  const [open, setOpen] = useState(false)
  return (
    <span>
      <button className="bare" aria-expanded={open} onClick={() => setOpen(!open)}>
        {note.messages} messages above are {note.cut ? 'left out for the model' : 'summarised for the model'}
      </button>
      {open && <span className="plain">{note.text}</span>}
    </span>
  )
}

/** @example tokens({ inputTokens: 1200, outputTokens: 80 }) // '1.2k in, 80 out' */
export function tokens({ inputTokens, outputTokens, cachedTokens, costUsd }: Usage): string {
  const cached = cachedTokens ? ` (${amount(cachedTokens)} cached)` : ''
  const cost = costUsd === undefined ? '' : ` · $${costUsd.toFixed(costUsd < 0.1 ? 4 : 2)}`
  return `${amount(inputTokens)} in${cached}, ${amount(outputTokens)} out${cost}`
}
