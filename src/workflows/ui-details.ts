/** The current details of a session in the Temporal UI. They stand in no history: the UI asks for them. */
import { workflowInfo } from '@temporalio/workflow'
import { preview } from '../core/message.ts'
import { pendingCalls } from '../session/answers.ts'
import { status, type Call, type SessionState } from '../session/state.ts'
import type { SessionStatus } from '../protocol/views.ts'
import { asksOf, type PendingRef } from '../protocol/pending.ts'
import type { SessionInput } from '../protocol/session-input.ts'

/** Keeps the details short: the UI sends them in a link, which holds about 4 KB. */
const CALLS_SHOWN = 12
/** The UI accepts no longer details. */
const DETAILS_LIMIT = 4000

const ICONS: Record<SessionStatus, string> = { idle: '⚪', running: '🟢', waiting: '🟡', paused: '⏸️', closed: '⬛' }

/** The UI replaces {namespace} itself. */
const WORKFLOWS = '/namespaces/{namespace}/workflows'

/** A person who meets a session here for the first time reads "Cancel" and "Terminate" on buttons. */
const BUTTONS = [
  '## Buttons',
  '- **Request Cancellation** stops the turn, and the session stays open. If there is nothing to stop, it closes the session.',
  '- **Terminate** stops everything at once and leaves the session open. `stello recover` goes on with it.',
]

/** Plain Markdown without tables, because the UI does not render tables. */
export function details(state: SessionState, input: SessionInput): string {
  const now = status(state)
  const { totals } = state
  const info = workflowInfo()
  const text = [
    `# ${ICONS[now]} ${plain(state.label)} · ${now}${now === 'waiting' ? ` for ${waitedFor(state)}` : ''}`,
    ...pauseLines(state),
    ...pendingLines(state),
    ...(state.turn ? turnLines(state) : []),
    ...(state.lastAnswer ? ['## Last answer', quote(preview(state.lastAnswer, 600))] : []),
    ...forkLines(state, input, info.runId),
    '## Counts',
    `- ${totals.turns} turns, ${totals.modelCalls} model calls, ${totals.toolCalls} tool calls`,
    `- ${totals.inputTokens} tokens in, ${totals.outputTokens} out`,
    `- ${state.seq} records, ${state.queue.length} messages waiting`,
    `- history: ${info.historyLength} events, ${Math.round(info.historySize / 1024)} KB`,
    ...(input.parentId ? [`- parent: ${link(input.parentId, input.parentId)}`] : []),
    ...(now === 'closed' ? [] : BUTTONS),
  ]
    // Without an empty line, Markdown takes a line behind a list into the last item.
    .map((line) => (line.startsWith('- ') ? line : `\n${line}\n`))
    .join('\n')
    .trim()
  return preview(text, DETAILS_LIMIT)
}

function waitedFor(state: SessionState): string {
  const { weather, calls = [] } = state.turn ?? {}
  if (weather) return plain(weather.provider)
  const people = pendingCalls(state).length > 0
  const children = calls.some(({ status, child, awaits }) => status === 'waiting' && (child ?? awaits))
  return [...(people ? ['a person'] : []), ...(children ? ['a fork'] : [])].join(' and ') || 'its calls'
}

function pauseLines({ pause, sessionId }: SessionState): string[] {
  if (!pause) return []
  return [
    `**Paused (${pause.reason}):** ${pause.message}`,
    ...(pause.nextTryAt === undefined ? [] : [`Tries again by itself at ${pause.nextTryAt}.`]),
    ...(pause.hint ? [`To go on: ${pause.hint}.`] : []),
    `Resume with \`stello resume ${sessionId}\` or the signal \`resume\`.`,
  ]
}

/** These lines stand near the top, because somebody must act. */
function pendingLines(state: SessionState): string[] {
  const items = pendingCalls(state)
  if (items.length === 0) return []
  return [
    '## Waits for a person',
    ...items
      .slice(0, CALLS_SHOWN)
      .map(({ call, item }) => `- ${asksOf(item.kind, call.title ?? call.name)} (\`${item.id}\`)${until(item)}`),
    ...(items.length > CALLS_SHOWN ? [`- … ${items.length - CALLS_SHOWN} more`] : []),
    `Answer with \`stello answer ${state.sessionId} ID DECISION\` or the signal \`answer\`.`,
  ]
}

function until({ expiresAt }: PendingRef): string {
  return expiresAt === undefined ? '' : ` until ${expiresAt}`
}

function turnLines({ turn, limits }: SessionState): string[] {
  if (!turn) return []
  return [
    `## Turn ${turn.n}, round ${turn.round + 1} of at most ${limits.maxToolRounds + 1}: ${turn.phase}`,
    ...(turn.weather
      ? [`**Waits for ${plain(turn.weather.provider)}** since ${turn.weather.since}: ${turn.weather.why}`]
      : []),
    ...turn.calls
      .slice(0, CALLS_SHOWN)
      .map(
        (call) => `- ${call.title ? `${plain(call.title)} ` : ''}\`${call.name}\`: ${call.status}${callDetail(call)}`,
      ),
    ...(turn.calls.length > CALLS_SHOWN ? [`- … ${turn.calls.length - CALLS_SHOWN} more calls`] : []),
  ]
}

function callDetail(call: Call): string {
  if (call.child) return `, ${link(call.child.label, call.child.sessionId)}`
  if (call.status === 'waiting' && call.awaits) return `, ${call.awaits.agents.map((id) => link(id, id)).join(', ')}`
  return call.preview ? `, \`${call.preview.replaceAll('`', "'")}\`` : ''
}

/** This session knows the state only of forks that it waits for. Temporal's lists show the state of all. */
function forkLines({ forks, turn, sessionId }: SessionState, { searchable }: SessionInput, runId: string): string[] {
  if (forks.length === 0) return []
  const awaited = turn?.calls.flatMap(({ status, child, awaits }) =>
    status === 'waiting' ? [child?.sessionId, ...(awaits?.agents ?? [])] : [],
  )
  const found = `${WORKFLOWS}?query=StelloParent%3D%22${sessionId}%22`
  const opened = `${WORKFLOWS}/${sessionId}/${runId}/relationships`
  return [
    '## Forks',
    ...forks.map(({ id, label }) => `- ${link(label, id)}${awaited?.includes(id) ? ': its answer is waited for' : ''}`),
    `How they are: ${searchable ? `[all, with their states](${found}), ` : ''}[those of this run](${opened}).`,
  ]
}

function plain(text: string): string {
  return text.replaceAll(/[[\]`]/g, '')
}

function link(text: string, sessionId: string): string {
  return `[${plain(text)}](${WORKFLOWS}/${sessionId})`
}

function quote(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
}
