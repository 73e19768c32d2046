/**
 * The view of a chat on its session: a fold over the events of the session and over the chat's own notes. A finished thing is
 * an item, which never changes again; the rest is live. Pure: knows no clock, no terminal, no server.
 */
import type { Message } from '../../core/message.ts'
import type { Pause } from '../../core/pause.ts'
import type { DurableEvents, StelloEvent } from '../../protocol/events.ts'
import { eventText } from '../output/format.ts'
import { asked, ended, shownLive, untilAttempt, type Card } from './cards.ts'

/** Something that is finished. */
export type Item =
  | { kind: 'message'; text: string }
  | { kind: 'answer'; text: string }
  | { kind: 'call'; card: Card }
  /** The result of a call, with nothing folded. */
  | { kind: 'whole'; title: string; text: string }
  | { kind: 'fork'; child: string; label: string; profile?: string; awaited: boolean }
  /** One thing that is told, in colour already. */
  | { kind: 'note'; text: string }
  /** A record from before: inherited, or asked for by `/transcript`. */
  | { kind: 'record'; role: string; text: string }

/** The text that streams, and which attempt at which step streams it. */
interface Stream {
  step: string
  attempt: number
  text: string
  reasoning: string
}

/** Notes of the chat itself. */
export type Told =
  | { told: 'item'; item: Item }
  /** The session has the message, and begins it when the turn before has ended. */
  | { told: 'sent'; messageId: string; text: string }
  /** The session has not got it after all. */
  | { told: 'unsent'; messageId: string }

export interface Conversation {
  items: readonly Item[]
  /** The turn that runs. */
  turn?: number
  stream?: Stream
  /** Calls that have not ended, in the order in which they came. */
  cards: readonly Card[]
  /** Messages that wait for their turn. */
  queue: readonly { messageId: string; text: string }[]
  weather?: DurableEvents['model.waiting'] & { nextTry: Date }
  paused?: Pause
  closed: boolean
  /** The model that has answered last, or is asked now. */
  model?: string
  totals: {
    turns: number
    modelCalls: number
    toolCalls: number
    inputTokens: number
    outputTokens: number
    costUsd: number
  }
}

/** A record, with the calls that it asks for. */
export function recordItem({ role, name, content, toolCalls = [] }: Message): Item {
  const calls = toolCalls.map((call) => `→ ${call.name} ${call.arguments}`)
  return { kind: 'record', role: name ?? role, text: [content, ...calls].filter(Boolean).join('\n') }
}

export const NEW_CONVERSATION: Conversation = {
  items: [],
  cards: [],
  queue: [],
  closed: false,
  totals: { turns: 0, modelCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
}

/** @param happened printable already: its texts go to the terminal */
export function conversation(before: Conversation, happened: StelloEvent | Told): Conversation {
  if (!('told' in happened)) return afterEvent(before, happened)
  if (happened.told === 'item') return withItems(before, happened.item)
  const { messageId } = happened
  if (happened.told === 'unsent') return withoutMessage(before, messageId)
  const { text } = happened
  return { ...before, queue: [...before.queue, { messageId, text }] }
}

/** The live part when nothing is asked and nothing streams. */
function settled({ stream: _stream, weather: _weather, ...rest }: Conversation): Conversation {
  return rest
}

function afterEvent(before: Conversation, event: StelloEvent): Conversation {
  const { type, data } = event
  switch (type) {
    case 'turn.started':
      return withItems(begun(before, data), { kind: 'message', text: data.text })
    case 'model.started':
      return { ...taken(before, data), model: data.model }
    case 'message.delta':
      return streamed(before, data, { text: data.text })
    case 'reasoning.delta':
      return streamed(before, data, { reasoning: data.text })
    case 'model.waiting': {
      const nextTry = new Date(event.at.getTime() + data.nextTryMs)
      return noted({ ...before, weather: { ...data, nextTry } }, event)
    }
    case 'message.completed':
      return answered(before, data, event.at)
    case 'tool.status':
      return afterCard(before, event)
    case 'tool.update':
      return {
        ...before,
        cards: before.cards.map((card) => (card.callId === data.callId ? { ...card, update: data.update } : card)),
      }
    case 'pending.opened':
      return before
    case 'permission.decided':
      return data.decision === 'deny' ? noted(before, event) : before
    case 'pending.closed':
      return withItems(
        {
          ...before,
          cards: before.cards.map((card) => (card.callId === data.callId ? { ...card, answered: true } : card)),
        },
        { kind: 'note', text: decided(data) },
      )
    case 'session.forked':
      return withItems(before, { kind: 'fork', ...data })
    case 'session.paused':
      return paused(before, data, event)
    case 'session.resumed':
      return noted(resumed(before), event)
    case 'turn.completed':
      return over(before, data)
    case 'message.rejected':
      return noted(withoutMessage(before, data.messageId), event)
    case 'session.rewound':
    case 'session.restarted': {
      const { turn: _turn, ...rest } = settled(before)
      return noted({ ...rest, cards: [] }, event)
    }
    case 'session.closed': {
      const { turn: _turn, ...rest } = settled(resumed(before))
      return withItems({ ...rest, cards: [], queue: [], closed: true }, { kind: 'note', text: 'the session is closed' })
    }
    case 'answer.rejected':
    case 'notice.failed':
    case 'step.quarantined':
    case 'step.taken_over':
    case 'transcript.compacted':
    case 'workspace.acquired':
    case 'workspace.lost':
    default:
      return noted(before, event)
  }
}

function begun(before: Conversation, { turn, messageId }: DurableEvents['turn.started']): Conversation {
  const totals = { ...before.totals, turns: before.totals.turns + 1 }
  return { ...withoutMessage(before, messageId), turn, totals }
}

function withoutMessage(before: Conversation, messageId: string | undefined): Conversation {
  return { ...before, queue: before.queue.filter((one) => one.messageId !== messageId) }
}

interface Attempt {
  step: string
  attempt: number
}

/** A later attempt replaces the text that an earlier one has streamed. A line says so, unless the weather has told it already. */
function taken(before: Conversation, { step, attempt }: Attempt): Conversation {
  const { stream, weather } = before
  const after: Conversation = {
    ...settled(before),
    stream: { step, attempt, text: '', reasoning: '' },
    cards: untilAttempt(before.cards, { step, attempt }),
  }
  if (weather || stream?.step !== step || stream.attempt >= attempt) return after
  return withItems(after, {
    kind: 'note',
    text: `the model is asked again (try ${attempt}): the try before did not come to its end`,
  })
}

function streamed(
  before: Conversation,
  { step, attempt }: Attempt,
  { text = '', reasoning = '' }: { text?: string; reasoning?: string },
): Conversation {
  const known = before.stream
  if (known?.step === step && known.attempt > attempt) return before
  if (known?.step !== step || known.attempt < attempt)
    return streamed(taken(before, { step, attempt }), { step, attempt }, { text, reasoning })
  return { ...before, stream: { ...known, text: known.text + text, reasoning: known.reasoning + reasoning } }
}

function answered(before: Conversation, data: DurableEvents['message.completed'], at: Date): Conversation {
  const { usage, calls, text, model } = data
  const { totals } = before
  const after: Conversation = {
    ...settled(before),
    model,
    cards: calls.reduce((cards, call) => asked(cards, call, at), before.cards),
    totals: {
      ...totals,
      modelCalls: totals.modelCalls + 1,
      inputTokens: totals.inputTokens + usage.inputTokens,
      outputTokens: totals.outputTokens + usage.outputTokens,
      costUsd: totals.costUsd + (usage.costUsd ?? 0),
    },
  }
  return text.trim() === '' ? after : withItems(after, { kind: 'answer', text })
}

function afterCard(before: Conversation, event: Extract<StelloEvent, { type: 'tool.status' }>): Conversation {
  if (event.offset === undefined) {
    const { cards, again } = shownLive(before.cards, event.data, event.at)
    const after = { ...before, cards }
    return again === undefined ? after : withItems(after, { kind: 'note', text: again })
  }
  const card = ended(before.cards, event.data, event.at)
  const totals = { ...before.totals, toolCalls: before.totals.toolCalls + 1 }
  const cards = before.cards.filter(({ callId }) => callId !== card.callId)
  return withItems({ ...before, cards, totals }, { kind: 'call', card })
}

function over(before: Conversation, { stopReason, text }: DurableEvents['turn.completed']): Conversation {
  const { turn: _turn, ...rest } = settled(before)
  const after: Conversation = { ...rest, cards: [] }
  if (stopReason === 'end_turn') return after
  if (stopReason !== 'completed')
    return withItems(after, { kind: 'note', text: `the turn has ended: ${STOPPED[stopReason] ?? stopReason}` })
  const said = after.items.some((item) => item.kind === 'answer' && item.text.startsWith(text))
  return said || text.trim() === '' ? after : withItems(after, { kind: 'answer', text })
}

/** The line about a turn that has ended without an answer. */
const STOPPED: Readonly<Record<string, string>> = {
  cancelled: 'it was cancelled',
  max_tool_rounds: 'it has used all its rounds of tool calls (`maxToolRounds`)',
  max_tokens: 'the model may not write more tokens',
  refused: 'its provider refuses it for good',
  closed: 'the session was closed',
}

/** Why, and what helps. */
function paused(before: Conversation, data: Pause, event: StelloEvent): Conversation {
  const after = noted({ ...settled(before), paused: data }, event)
  return withItems(after, {
    kind: 'note',
    text: `${data.hint ? `${data.hint}; ` : ''}/resume goes on with the same turn`,
  })
}

function decided({ title, name, decision, args, remember }: DurableEvents['pending.closed']): string {
  const more = [
    args === undefined ? '' : 'with arguments that a person has changed',
    remember === undefined ? '' : `from now on (${remember})`,
  ]
  return [`${title ?? name}: ${decision}`, ...more.filter(Boolean)].join(', ')
}

function resumed({ paused: _paused, ...rest }: Conversation): Conversation {
  return rest
}

function noted(before: Conversation, event: StelloEvent): Conversation {
  const text = eventText(event)
  return text === undefined || text === '' ? before : withItems(before, { kind: 'note', text })
}

function withItems(before: Conversation, item: Item): Conversation {
  return { ...before, items: [...before.items, item] }
}
