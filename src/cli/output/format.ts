/** Sessions, trees and events as people read them in a terminal. */
import pc from 'picocolors'
import { untilText } from '../../protocol/pending.ts'
import { remedyOf } from '../../client/holdups.ts'
import type {
  InboxItem,
  InboxQuestion,
  SessionStats,
  SessionSummary,
  SessionTree,
  StelloEvent,
  TranscriptSummary,
} from '../../client/index.ts'

const COLOURS = { idle: pc.dim, running: pc.green, waiting: pc.yellow, paused: pc.red, closed: pc.dim } as const

/** Longest text about one item that holds a session up. */
const HELD_SHOWN = 3

export function sessionLine(session: SessionSummary): string {
  const profile = session.profile ? pc.dim(` (${flat(session.profile)})`) : ''
  return `${session.id}  ${stateText(session.state)} ${flat(session.label)}${profile} ${nowText(session)}`.trimEnd()
}

/** The state in its colour, as wide as the longest one. */
export function stateText(state: SessionSummary['state']): string {
  return COLOURS[state](state.padEnd(7))
}

/** A session's work in hand and its holdups, as text. Empty: there are none. */
export function nowText(session: SessionSummary): string {
  return nowParts(session).join(' ').trimEnd()
}

/** The parts of that text. The first is the work in hand, and may be empty. */
export function nowParts(session: SessionSummary): string[] {
  const { inHand, pending, pause, weather, heldBy: items } = session
  const hand = inHand.map(
    ({ kind, since, ...step }) => `${kind === 'model' ? '⋯' : '⚒'} ${calledBy(step)} ${age(since)}`,
  )
  return [
    hand.length > 0 ? pc.dim(hand.join(', ')) : '',
    ...pending.map((item) => pc.yellow(`? ${calledBy(item)} (${item.id})`)),
    ...(weather ? [pc.yellow(weatherText(weather))] : []),
    ...(pause ? [pc.red(`${pause.reason}: ${flat(pause.message)}${triesAgain(pause)}`)] : []),
    ...(items.length > 0 ? [heldBy(items)] : []),
  ]
}

/** @example heldUpLine({ provider: 'openai', why: '429' }, '14:32:10') // 'waits for openai: 429, next try 14:32:10' */
function heldUpLine({ provider, why }: { provider: string; why: string }, nextTry: string): string {
  return `waits for ${oneLine(provider)}: ${oneLine(why)}, next try ${nextTry}`
}

/** The provider that the model call of a session waits for, as text. */
export function weatherText(weather: NonNullable<SessionSummary['weather']>): string {
  return heldUpLine(weather, soon(weather.nextTry))
}

/** Another session may be the one that tries, so the time may have passed. */
function soon(time: Date): string {
  return time.getTime() <= Date.now() ? 'now' : clock(time)
}

function clock(time: Date): string {
  return time.toTimeString().slice(0, 8)
}

/** The items below a session that hold it up. */
function heldBy(items: SessionSummary['heldBy']): string {
  const shown = items
    .slice(0, HELD_SHOWN)
    .map((item) => `${item.sessionId} ${item.kind === 'paused' ? `paused (${item.reason})` : `asks (${item.id})`}`)
  const more = items.length > HELD_SHOWN ? `, and ${items.length - HELD_SHOWN} more` : ''
  return pc.yellow(`held up by ${shown.join(', ')}${more}`)
}

export function treeLines(tree: SessionTree, indent = '', branch = ''): string[] {
  const below = branch === '' ? indent : indent + (branch === '├─ ' ? '│  ' : '   ')
  const last = tree.children.length - 1
  return [
    `${indent}${branch}${sessionLine(tree)}`,
    ...tree.children.flatMap((child, i) => treeLines(child, below, i === last ? '└─ ' : '├─ ')),
  ]
}

/** An item that waits, and the command that lets it go on. */
export function inboxLines(item: InboxItem): string {
  const { sessionId, label, message, at } = item
  const where = pc.dim(`(${flat(label)}, ${age(new Date(at))})`)
  const lines =
    item.kind === 'paused'
      ? [
          `${sessionId} is paused (${item.reason}): ${flat(message)}${triesAgain(item)} ${where}`,
          ...(item.hint ? [flat(item.hint)] : []),
        ]
      : [
          `${flat(message)} ${where}`,
          `${calledBy(item)} ${oneLine(item.preview)}`,
          ...touchesLines(item),
          ...formLines(item.form),
          ...untilLines(item),
        ]
  return `${pc.yellow('?')} ${[...lines, remedyOf(item)].join('\n    ')}`
}

/** All touches that would be permitted, if the question itself names only some. One may be the beginning of another. */
function touchesLines({ message, permit }: InboxQuestion): string[] {
  const touches = permit?.touches ?? []
  if (message.includes(touches.join('; '))) return []
  return touches.map((each) => flat(/^and \d+ more$/.test(each) ? each : `would ${each}`))
}

function untilLines(item: InboxQuestion): string[] {
  const until = untilText(item)
  return until === undefined ? [] : [flat(until)]
}

/** How a question may be answered. */
function formLines(form: InboxQuestion['form']): string[] {
  if (!form) return []
  const { header, options = [], multiSelect, schema, preview } = form
  const many = multiSelect ? pc.dim('(more than one may be chosen)') : ''
  return [
    ...(header ? [pc.bold(flat(header))] : []),
    ...(preview ? preview.split('\n').map((line) => pc.dim(`| ${flat(line)}`)) : []),
    ...options.map(({ label, description }) => `- ${flat(label)}${description ? pc.dim(` ${flat(description)}`) : ''}`),
    ...(many ? [many] : []),
    ...(schema ? [`values: ${oneLine(schema)}`] : []),
  ]
}

/** The mark in a transcript behind the messages that the model no longer reads. */
export function summaryLines({ messages, text, cut }: TranscriptSummary): string {
  const what = cut ? 'left out for the model' : 'summarised for the model'
  return pc.dim(`── the ${messages} messages above are ${what} ──\n${text}\n──`)
}

type ToolStats = SessionStats['tools'][number]

export function statsLine({ toolName, executionCount, failureCount, averageDuration, errors = {} }: ToolStats): string {
  const kinds = Object.entries(errors).map(([error, times]) => `${flat(error)} ${times}`)
  const failed = `${failureCount} failed${kinds.length > 0 ? ` (${kinds.join(', ')})` : ''}`
  return `${flat(toolName)}: ${executionCount} calls, ${failed}, ${Math.round(averageDuration)} ms on average`
}

/** An event as one line. Undefined for an event that would only fill the screen. */
export function eventLine(event: StelloEvent): string | undefined {
  const text = eventText(event)
  return text === undefined ? undefined : `${pc.dim(event.sessionId)} ${pc.dim(event.type.padEnd(18))} ${text}`
}

/** The same without session and type. */
export function eventText({ type, data, at }: StelloEvent): string | undefined {
  switch (type) {
    case 'model.waiting':
      return pc.yellow(heldUpLine(data, clock(new Date(at.getTime() + data.nextTryMs))))
    case 'model.started':
    case 'message.delta':
    case 'reasoning.delta':
      return undefined
    case 'turn.started':
      return pc.cyan(oneLine(data.text))
    case 'message.completed':
      return oneLine(data.text) || pc.dim(`asks for ${data.calls.map(calledBy).join(', ')}`)
    case 'message.rejected':
      return pc.red(`${oneLine(data.reason)}: ${oneLine(data.preview)}`)
    case 'tool.status':
      return [calledBy(data), data.status, oneLine(data.showTip), oneLine(data.result) || oneLine(data.params)]
        .filter(Boolean)
        .join(' ')
    case 'tool.update':
      return `${calledBy(data)} ${oneLine(data.update)}`
    case 'permission.decided': {
      const { decision, by, rule, mode, why, touches } = data
      const line = oneLine([calledBy(data), decision, 'by', by, rule ?? mode, why].filter(Boolean).join(' '))
      const shown = touches.length > 0 ? `${line}: ${oneLine(touches.join('; '))}` : line
      return decision === 'deny' ? pc.red(shown) : pc.dim(shown)
    }
    case 'pending.opened':
      return pc.yellow(`${oneLine(data.message)} ${oneLine(data.id)} ${flat(untilText(data) ?? '')}`.trimEnd())
    case 'pending.closed':
      return `${calledBy(data)} ${data.decision} ${oneLine(data.id)}${data.by === 'expired' ? ' (nobody has answered in time)' : ''}`
    case 'answer.rejected':
      return pc.red(`${oneLine(data.reason)}: ${oneLine(data.id ?? data.preview)}`)
    case 'notice.failed':
      return pc.red(`nobody could be told: ${oneLine(data.why)}`)
    case 'step.quarantined':
      return pc.red(
        `${oneLine(data.name)} ${data.key} is not run again: its worker died ${data.deaths} times while it ran`,
      )
    case 'step.taken_over':
      return pc.yellow(`${oneLine(data.name)} ${data.key}: worker ${oneLine(data.worker)} has died while it ran`)
    case 'transcript.compacted':
      return pc.dim(
        `${data.messages} messages ${data.cut ? 'are left out' : 'are summarised'} for the model from here on (${data.why}): ${oneLine(data.text)}`,
      )
    case 'workspace.acquired':
      return `${oneLine(data.workspaceId)} on host ${oneLine(data.host)}`
    case 'workspace.lost':
      return pc.red(`${oneLine(data.workspaceId)} is gone together with its host ${oneLine(data.host)}`.trimEnd())
    case 'session.forked':
      return `${oneLine(data.child)} ${oneLine(data.label)}`
    case 'session.paused':
      return pc.red(`${data.reason}: ${oneLine(data.message)}${triesAgain(data)}`)
    case 'session.resumed':
      return data.tries === undefined ? '' : 'tries again by itself'
    case 'session.closed':
      return ''
    case 'session.restarted':
      return pc.yellow(`goes on behind record ${data.seq}; a turn without an answer is taken up again`)
    case 'session.rewound':
      return pc.yellow(`goes on behind record ${data.seq}; what came after it in this session no longer counts`)
    case 'turn.completed':
      return data.stopReason
    default:
      return unknownLine(type, data)
  }
}

/**
 * A newer worker may send an event that this version does not know. This compiles only if every known event has its own
 * case above.
 */
function unknownLine(_type: never, data: unknown): string {
  return oneLine(data)
}

/** @example ' (tries again by itself at 14:32:10)' */
function triesAgain({ nextTryAt }: { nextTryAt?: string }): string {
  return nextTryAt === undefined ? '' : pc.yellow(` (tries again by itself at ${clock(new Date(nextTryAt))})`)
}

interface Named {
  name: string
  title?: string
}

/** The name of a tool for people. */
export function calledBy({ name, title }: Named): string {
  return flat(title ?? name)
}

function oneLine(value: unknown): string {
  const line = flat(typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))
  return line.length > 160 ? `${line.slice(0, 159)}…` : line
}

/** A label must not be able to write the next line too. */
export function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** @example age(new Date(Date.now() - 90_000)) // '1m30s' */
export function age(since: Date): string {
  const seconds = Math.max(0, Math.round((Date.now() - since.getTime()) / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`
  const hours = Math.floor(seconds / 3600)
  return hours < 24
    ? `${hours}h${String(Math.floor(seconds / 60) % 60).padStart(2, '0')}m`
    : `${Math.floor(hours / 24)}d`
}
