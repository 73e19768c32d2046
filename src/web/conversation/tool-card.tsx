/** One call of a tool: what it was asked, how it goes, what came of it. One line until somebody wants to know more. */
import { useState, type ReactNode } from 'react'
import { hrefOf } from '../route.ts'
import { span } from '../tree/doing.ts'
import type { Card } from './entries.ts'
import { argumentsOf, briefArguments, textOf } from './card-text.ts'
import { CopyButton } from './copy-button.tsx'
import { Images } from './images.tsx'
import { shownDiff } from './shown-diff.ts'

const WORDS: Readonly<Record<Card['status'], string>> = {
  WAIT: 'to come',
  DOING: 'running',
  SUCCESS: 'done',
  ERROR: 'failed',
  STOPPED: 'stopped',
}
/** How much of a result a folded card shows. */
const FOLDED_LINES = 12

/** @param props.now milliseconds since 1970, for how long it runs */
export function ToolCard({ card, now }: { card: Card; now: number }): ReactNode {
  const { name, title, status, showTip, restarts, answered, permission, children } = card
  const args = argumentsOf(card)
  const diff = shownDiff(name, args, card.details)
  const failed = status === 'ERROR'
  const [open, setOpen] = useState<boolean>()
  const isOpen = open ?? (failed || diff !== undefined || card.pending !== undefined)
  const progress = progressOf(card)
  return (
    <article className={`tool ${status}`} aria-label={`${title ?? name}: ${WORDS[status]}`}>
      <button className="tool-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="tool-sign" aria-hidden />
        <b>{title ?? name}</b>
        <span className="tool-brief">{showTip ?? briefArguments(args)}</span>
        {restarts > 0 && <span className="mark taken">taken over</span>}
        {answered !== undefined && <span className="mark">{answered.replace('_', ' ')}</span>}
        <span className="tool-time num">{timeOf(card, now)}</span>
        <span className="tool-word">{card.pending ? 'asks you' : WORDS[status]}</span>
      </button>
      {progress !== undefined && status === 'DOING' && (
        <progress value={progress.value} max={progress.max} aria-label="Progress" />
      )}
      {children.map((child) => (
        <p key={child.id} className="tool-child">
          <span aria-hidden>↳</span> <a href={hrefOf({ at: 'session', sessionId: child.id })}>{child.label}</a>
          {child.profile !== undefined && <span className="quiet"> {child.profile}</span>}
        </p>
      ))}
      {status === 'DOING' && <Output card={card} />}
      {isOpen && (
        <div className="tool-body">
          {permission && permission.by !== 'mode' && (
            <p className="quiet">
              {permission.decision} by {permission.by}
              {permission.rule !== undefined && <code> {permission.rule}</code>}
              {permission.why !== undefined && `: ${permission.why}`}
            </p>
          )}
          {diff ? <Diff lines={diff} /> : <Block label="Arguments" text={textOf(args)} />}
          {card.code !== undefined && <p className="tool-code">{card.code}</p>}
          {(!diff || failed) && <Block label="Result" text={textOf(card.content ?? card.result)} />}
          {card.parts && <Images parts={card.parts} />}
        </div>
      )}
    </article>
  )
}

function timeOf({ status, durationMs, since }: Card, now: number): string {
  if (durationMs !== undefined) return span(durationMs)
  return status === 'DOING' && since !== undefined ? span(now - since) : ''
}

function progressOf({ updates }: Card): { value: number; max: number } | undefined {
  const told = updates['progress'] as { progress?: unknown; total?: unknown } | number | undefined
  if (typeof told === 'number') return { value: told, max: 1 }
  const { progress, total } = told ?? {}
  return typeof progress === 'number' && typeof total === 'number' ? { value: progress, max: total } : undefined
}

/** The last lines of a running call's output. */
function Output({ card }: { card: Card }): ReactNode {
  const text = textOf(card.updates['output'] ?? card.updates['update'])
  if (text === '') return null
  return <pre className="tool-output">{text.split('\n').slice(-6).join('\n')}</pre>
}

function Block({ label, text }: { label: string; text: string }): ReactNode {
  const [whole, setWhole] = useState(false)
  if (text === '') return null
  const lines = text.split('\n')
  const isLong = lines.length > FOLDED_LINES || text.length > 2000
  const shown = whole || !isLong ? text : lines.slice(0, FOLDED_LINES).join('\n').slice(0, 2000)
  return (
    <div className="code-block" role="group" aria-label={label}>
      <CopyButton text={() => text} />
      <pre tabIndex={0}>{shown}</pre>
      {isLong && (
        <button className="bare more" onClick={() => setWhole(!whole)}>
          {whole ? 'less' : `all ${lines.length} lines`}
        </button>
      )}
    </div>
  )
}

function Diff({ lines }: { lines: NonNullable<ReturnType<typeof shownDiff>> }): ReactNode {
  const [whole, setWhole] = useState(false)
  const shown = whole ? lines : lines.slice(0, 2 * FOLDED_LINES)
  return (
    <div className="diff" role="group" aria-label="Change">
      <pre tabIndex={0}>
        {shown.map(({ sign, text }, index) => (
          <span
            key={index}
            className={sign === '+' ? 'added' : sign === '-' ? 'removed' : sign === 'place' ? 'at' : ''}
          >
            {sign === 'place' ? '' : sign} {text}
            {'\n'}
          </span>
        ))}
      </pre>
      {lines.length > shown.length && (
        <button className="bare more" onClick={() => setWhole(true)}>
          all {lines.length} lines
        </button>
      )}
    </div>
  )
}
