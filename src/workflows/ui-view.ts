/** What the Temporal UI shows about a session: memo, search attributes, current details. */
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'
import { preview } from '../core/message.ts'
import { pendingCalls } from '../session/answers.ts'
import { status, type Call, type SessionState } from '../session/state.ts'
import { type SessionStatus } from '../protocol/views.ts'
import { asksOf } from '../protocol/pending.ts'
import { STATE } from '../protocol/search-attributes.ts'
import type { SessionInput } from '../protocol/session-input.ts'

/** Keeps the details short: the UI sends them in a link, which holds about 4 KB. */
const CALLS_SHOWN = 12

export interface Shown {
  show(state: SessionState): void
}

/**
 * An upsert is a history event. So the state is written only when it begins or ends to be one that people search for.
 */
export function createShown(input: SessionInput<SessionState>): Shown {
  let written = input.state ? searched(status(input.state)) : 'active'
  return {
    show(state) {
      setCurrentDetails(details(state, input))
      const now = searched(status(state))
      if (!input.searchable || now === written) return
      written = now
      upsertSearchAttributes([{ key: STATE, value: now }])
    },
  }
}

function searched(state: SessionStatus): string {
  return state === 'idle' || state === 'running' ? 'active' : state
}

/** The UI accepts no longer details. */
const DETAILS_LIMIT = 4000

const ICONS: Record<SessionStatus, string> = { idle: '⚪', running: '🟢', waiting: '🟡', paused: '⏸️', closed: '⬛' }

/** Plain Markdown without tables, because the UI does not render tables. */
function details(state: SessionState, input: SessionInput): string {
  const now = status(state)
  const { totals } = state
  const info = workflowInfo()
  const text = [
    `# ${ICONS[now]} ${state.label} · ${now}`,
    ...pauseLines(state),
    ...pendingLines(state),
    ...(state.turn ? turnLines(state) : []),
    ...(state.lastAnswer ? ['## Last answer', quote(preview(state.lastAnswer, 600))] : []),
    ...(state.forks.length > 0 ? ['## Forks', ...state.forks.map(forkLine)] : []),
    '## Counts',
    `- ${totals.turns} turns, ${totals.modelCalls} model calls, ${totals.toolCalls} tool calls`,
    `- ${totals.inputTokens} tokens in, ${totals.outputTokens} out`,
    `- ${state.seq} records, ${state.queue.length} messages waiting`,
    `- history: ${info.historyLength} events, ${Math.round(info.historySize / 1024)} KB`,
    ...(input.parentId ? [`- parent: ${link(input.parentId, input.parentId)}`] : []),
  ]
    .map((line) => (line.startsWith('#') ? `\n${line}\n` : line))
    .join('\n')
    .trim()
  return preview(text, DETAILS_LIMIT)
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
      .map(({ call, item }) => `- ${asksOf(item.kind, call.title ?? call.name)} (\`${item.id}\`)`),
    ...(items.length > CALLS_SHOWN ? [`- … ${items.length - CALLS_SHOWN} more`] : []),
    `Answer with \`stello answer ${state.sessionId} ID DECISION\` or the signal \`answer\`.`,
  ]
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
        (call) => `- ${call.title ? `${plain(call.title)} ` : ''}\`${call.name}\` ${call.status} ${callDetail(call)}`,
      ),
    ...(turn.calls.length > CALLS_SHOWN ? [`- … ${turn.calls.length - CALLS_SHOWN} more calls`] : []),
  ]
}

function callDetail(call: Call): string {
  if (call.child) return link(call.child.label, call.child.sessionId)
  if (call.status === 'waiting' && call.awaits) return call.awaits.agents.map((id) => link(id, id)).join(', ')
  return call.preview ? `\`${call.preview.replaceAll('`', "'")}\`` : ''
}

function forkLine(fork: { id: string; label: string }): string {
  return `- ${link(fork.label, fork.id)}`
}

function plain(text: string): string {
  return text.replaceAll(/[[\]`]/g, '')
}

/** The UI replaces {namespace} itself. */
function link(text: string, sessionId: string): string {
  return `[${plain(text)}](/namespaces/{namespace}/workflows/${sessionId})`
}

function quote(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
}
