/**
 * Events of sessions, for a person at a terminal: text as it comes, and two short lines for each call of
 * a tool. It gets printable events only, and never moves the cursor back.
 */
import pc from 'picocolors'
import type { StelloEvent } from '../../client/index.ts'
import { fitLine } from './fit-line.ts'
import { calledBy, eventText, flat } from './format.ts'

interface WatchLinesOptions {
  /** Names the session in each line, because several are watched. */
  named: boolean
  columns: () => number
}

type Of<Type extends StelloEvent['type']> = Extract<StelloEvent, { type: Type }>

/** @returns what to write for the next event, line ends included */
export function createWatchLines({ named, columns }: WatchLinesOptions): (event: StelloEvent) => string {
  /** The step whose text stands in the last line, which has no end yet, and that text. */
  let open: { by: string; text: string } | undefined
  /** Calls whose first line is written. */
  const running = new Set<string>()

  const who = ({ sessionId }: StelloEvent): string => (named ? `${pc.dim(sessionId)} ` : '')

  /** Ends the line that streams. */
  function ended(): string {
    const end = open ? '\n' : ''
    open = undefined
    return end
  }

  function line(event: StelloEvent, text: string): string {
    return `${ended()}${fitLine(who(event) + text, columns())}\n`
  }

  function streamed(event: Of<'message.delta'>): string {
    const { text, attempt } = event.data
    const by = `${event.sessionId} ${event.data.step} ${attempt}`
    if (open?.by === by) {
      open.text += text
      return text
    }
    const begin = ended() + who(event)
    open = { by, text }
    return begin + text
  }

  /** The last pieces of a text may never arrive. A watcher that began in the middle of the text gets the whole. */
  function completed(event: Of<'message.completed'>): string {
    const { text } = event.data
    const seen = open?.by.startsWith(`${event.sessionId} `) ? open.text : ''
    // The event has only the beginning of a long text.
    if (text.endsWith('…') && seen.startsWith(text.slice(0, -1)) && seen.length >= text.length) return ended()
    if (seen !== '' && text.startsWith(seen)) return text.slice(seen.length) + ended()
    return text.trim() === '' ? ended() : `${ended()}${who(event)}${text}\n`
  }

  function called(event: Of<'tool.status'>): string {
    const { data } = event
    const call = `${event.sessionId} ${data.callId}`
    if (data.status === 'WAIT' || (data.status === 'DOING' && running.has(call))) return ''
    if (data.status === 'DOING') {
      running.add(call)
      return line(event, `${pc.yellow('⚒')} ${calledBy(data)} ${pc.dim(oneOf(data.showTip, data.params))}`)
    }
    const begun = running.delete(call)
    const mark = data.status === 'SUCCESS' ? pc.green('✓') : pc.red('✗')
    const took = 'durationMs' in data ? `${(data.durationMs / 1000).toFixed(1)} s` : ''
    const shown = [calledBy(data), begun ? '' : oneOf(data.params), pc.dim(took), oneOf(data.result)]
    return line(event, `${mark} ${shown.filter(Boolean).join(' ')}`)
  }

  return (event) => {
    if (event.type === 'message.delta') return streamed(event)
    if (event.type === 'message.completed') return completed(event)
    if (event.type === 'tool.status') return called(event)
    // The next status of the call tells it.
    if (event.type === 'tool.update') return ''
    if (event.type === 'turn.started') return line(event, pc.cyan(`› ${flat(oneOf(event.data.text))}`))
    const text = eventText(event)
    return text === undefined ? '' : line(event, `${pc.dim(event.type)} ${text}`.trimEnd())
  }
}

/** The first text that is not empty, as one line. */
function oneOf(...values: unknown[]): string {
  const value = values.find((one) => one !== undefined && one !== '')
  return flat(typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))
}
