/** What streamed pieces change in a conversation. Pure. A piece of an attempt that was replaced changes nothing. */
import type { Card, Streaming } from './entries.ts'
import type { Draft, LiveWebEvent } from './conversation-state.ts'
import { changeCard } from './entry-list.ts'
import { modelKey, readModelKey } from '../../protocol/keys.ts'

export function tellLive(draft: Draft, event: LiveWebEvent): void {
  // Calls that stream belong to the step of the model that asks for them.
  if (readModelKey(event.data.step)) tellModel(draft, event)
  else tellCall(draft, event)
}

function tellModel(draft: Draft, event: LiveWebEvent): void {
  const { step, attempt } = event.data
  const index = draft.streaming.findIndex((one) => one.step === step)
  const heard = draft.streaming[index]
  if (heard && heard.attempt > attempt) return
  if (isOver(draft, step)) return
  const goesOn = heard?.attempt === attempt && heard.connection === draft.connection
  const restarts = heard ? heard.restarts + (attempt > heard.attempt ? 1 : 0) : 0
  const before = goesOn ? heard : { ...begin(draft, event), restarts }
  const after = withPiece(before, event)
  if (index === -1) draft.streaming.push(after)
  else draft.streaming[index] = after
  delete draft.weather
}

/** A piece may be read just before the answer that replaces it, and arrive after it. */
function isOver({ turn, entries }: Draft, step: string): boolean {
  if (!turn) return true
  return entries.some(
    (entry) =>
      entry.kind === 'answer' &&
      entry.turn === turn.n &&
      entry.round !== undefined &&
      modelKey({ turn: turn.n, round: entry.round }) === step,
  )
}

function begin({ connection }: Draft, { at, data: { step, attempt } }: LiveWebEvent): Streaming {
  return { step, attempt, connection, at, restarts: 0, text: '', reasoning: '', cards: [] }
}

function withPiece(before: Streaming, event: LiveWebEvent): Streaming {
  switch (event.type) {
    case 'model.started':
      return { ...before, model: event.data.model }
    case 'message.delta':
      return { ...before, text: before.text + event.data.text }
    case 'reasoning.delta':
      return { ...before, reasoning: before.reasoning + event.data.text }
    case 'tool.status': {
      const { callId } = event.data
      const at = before.cards.findIndex((card) => card.callId === callId)
      const card = withCard(before.cards[at] ?? emptyCard(callId), event)
      return { ...before, cards: at === -1 ? [...before.cards, card] : before.cards.with(at, card) }
    }
    case 'tool.update':
      return before
  }
}

/** A call that runs has its card in the answer that has asked for it. */
function tellCall(draft: Draft, event: LiveWebEvent): void {
  if (event.type !== 'tool.status' && event.type !== 'tool.update') return
  changeCard(draft.entries, { callId: event.data.callId }, (card) => {
    if (card.status !== 'WAIT' && card.status !== 'DOING') return card
    if (card.attempt > event.data.attempt) return card
    return withCard(card.attempt === event.data.attempt ? card : afresh(card, event.data.attempt), event)
  })
}

/** A new attempt has told nothing yet. The first one that is heard is no restart. */
function afresh({ updates: _updates, showTip: _tip, since: _since, ...card }: Card, attempt: number): Card {
  return { ...card, updates: {}, attempt, restarts: card.restarts + (card.attempt > 0 ? 1 : 0) }
}

function withCard(card: Card, event: Extract<LiveWebEvent, { type: 'tool.status' | 'tool.update' }>): Card {
  const { name, title } = event.data
  const named = { ...card, name, ...(title !== undefined && { title }) }
  if (event.type === 'tool.update') return { ...named, updates: withUpdate(card.updates, event.data.update) }
  const { status, showTip, params, result } = event.data
  return {
    ...named,
    status,
    ...(showTip !== undefined && { showTip }),
    ...(params && { params }),
    ...(result !== undefined && { result }),
    ...(status === 'DOING' && { since: card.since ?? Date.parse(event.at) }),
  }
}

/** Each kind of update is replaced by its next. */
export function withUpdate(updates: Card['updates'], update: unknown): Card['updates'] {
  const [kind, ...more] = typeof update === 'object' && update !== null ? Object.keys(update) : []
  const isOfRuntime = more.length === 0 && (kind === 'progress' || kind === 'output')
  return { ...updates, [isOfRuntime ? kind : 'update']: isOfRuntime ? (update as Card['updates'])[kind] : update }
}

export function emptyCard(callId: string): Card {
  return { callId, name: '', status: 'WAIT', arguments: '', updates: {}, attempt: 0, restarts: 0, children: [] }
}
