/** What durable events change in a conversation: each of them once, in the order of their offsets. Pure. */
import { modelKey } from '../../protocol/keys.ts'
import { addUsage, NO_USAGE, type Draft, type DurableWebEvent } from './conversation-state.ts'
import type { AnswerEntry, Card, Entry, Happening } from './entries.ts'
import { changeCard, entryAt, put } from './entry-list.ts'
import { goBack } from './go-back.ts'
import { emptyCard, withUpdate } from './live-events.ts'

type Of<Type> = Extract<DurableWebEvent, { type: Type }>

export function tellDurable(draft: Draft, event: DurableWebEvent): void {
  switch (event.type) {
    case 'turn.started':
      return turnStarted(draft, event)
    case 'model.waiting': {
      const { provider, why, nextTryMs } = event.data
      draft.weather = { provider, why, nextTry: Date.parse(event.at) + nextTryMs }
      return
    }
    case 'message.completed':
      return messageCompleted(draft, event)
    case 'transcript.compacted':
      draft.usage = addUsage(draft.usage, event.data.usage)
      return note(draft, event, { is: 'compacted', ...event.data })
    case 'message.rejected':
      if (event.data.messageId !== undefined) draft.taken.add(event.data.messageId)
      return note(draft, event, { is: 'rejected', ...event.data })
    case 'answer.rejected':
      return note(draft, event, { is: 'rejected', ...event.data })
    case 'tool.status':
      return toolEnded(draft, event)
    case 'tool.update':
      return changeTold(draft, event.data.callId, (card) => {
        return { ...card, updates: withUpdate(card.updates, event.data.update) }
      })
    case 'permission.decided': {
      const { callId, decision, by, rule, why } = event.data
      const permission = { decision, by, ...(rule !== undefined && { rule }), ...(why !== undefined && { why }) }
      return changeTold(draft, callId, (card) => ({ ...card, permission }))
    }
    case 'pending.opened': {
      const item = event.data
      draft.pending = [...draft.pending.filter(({ id }) => id !== item.id), item]
      return changeTold(draft, item.callId, ({ answered: _answered, ...card }) => ({
        ...card,
        pending: item,
      }))
    }
    case 'pending.closed': {
      const { id, callId, decision } = event.data
      draft.pending = draft.pending.filter((item) => item.id !== id)
      return changeTold(draft, callId, ({ pending: _pending, ...card }) => ({
        ...card,
        answered: decision,
      }))
    }
    case 'notice.failed':
      return
    case 'step.taken_over':
      return note(draft, event, { is: 'takenOver', ...event.data })
    case 'step.quarantined':
      return note(draft, event, { is: 'quarantined', ...event.data })
    case 'workspace.acquired':
      return note(draft, event, { is: 'workspace', host: event.data.host, lost: false })
    case 'workspace.lost':
      return note(draft, event, { is: 'workspace', host: event.data.host ?? '', lost: true })
    case 'session.forked':
      return forked(draft, event)
    case 'session.paused':
      draft.pause = event.data
      delete draft.weather
      return note(draft, event, { is: 'paused', pause: event.data })
    case 'session.resumed':
      delete draft.pause
      return note(draft, event, { is: 'resumed', ...event.data })
    case 'turn.completed':
      return turnCompleted(draft, event)
    case 'session.rewound':
    case 'session.restarted':
      goBack(draft, event.data)
      return note(draft, event, {
        is: 'wentBack',
        generation: event.data.generation,
        restarted: event.type === 'session.restarted',
      })
    case 'session.closed':
      draft.closed = true
      delete draft.pause
      delete draft.weather
      draft.streaming = []
      return note(draft, event, { is: 'closed' })
  }
}

/** Offsets begin at 0, and 0 is the place of a record itself. */
function note(draft: Draft, { at, offset }: DurableWebEvent, happened: Happening): void {
  put(draft.entries, { kind: 'note', key: `e${offset}`, seq: draft.lastSeq, after: offset + 1, at, note: happened })
}

/** Changes the card of a call that events have told of. Records may have brought later calls of the same id already. */
function changeTold({ entries, lastSeq }: Draft, callId: string, change: (card: Card) => Card): void {
  changeCard(entries, { callId, before: lastSeq + 1 }, change)
}

function tellOf(draft: Draft, seq: number): void {
  draft.told += 1
  draft.lastSeq = Math.max(draft.lastSeq, seq)
}

function turnStarted(draft: Draft, { at, data: { turn, seq, text, messageId } }: Of<'turn.started'>): void {
  draft.taken.add(messageId)
  draft.turn = { n: turn, since: at, usage: NO_USAGE, rounds: 0 }
  tellOf(draft, seq)
  const there = entryAt(draft.entries, seq)
  const told = there?.kind === 'message' ? there : { role: 'user' as const, text }
  put(draft.entries, { ...told, kind: 'message', key: `r${seq}`, seq, after: 0, at, turn })
}

function messageCompleted(draft: Draft, { at, data }: Of<'message.completed'>): void {
  const { turn, round, seq, text, calls, usage, model } = data
  const step = modelKey({ turn, round })
  const streamed = draft.streaming.find((one) => one.step === step)
  draft.streaming = draft.streaming.filter((one) => one.step !== step)
  delete draft.weather
  tellOf(draft, seq)
  draft.usage = addUsage(draft.usage, usage)
  const open = draft.turn?.n === turn ? draft.turn : { n: turn, since: at, usage: NO_USAGE, rounds: 0 }
  draft.turn = { ...open, usage: addUsage(open.usage, usage), rounds: open.rounds + 1 }
  const there = entryAt(draft.entries, seq)
  const known = there?.kind === 'answer' ? there : undefined
  const entry: AnswerEntry = {
    ...known,
    kind: 'answer',
    key: `r${seq}`,
    seq,
    after: 0,
    at,
    turn,
    round,
    text: known?.text ?? text,
    model,
    usage,
    restarts: streamed?.restarts ?? known?.restarts ?? 0,
    cards: calls.map(({ callId, name, title, arguments: args }): Card => {
      const card = known?.cards.find((one) => one.callId === callId) ?? { ...emptyCard(callId), arguments: args }
      const params = streamed?.cards.find((one) => one.callId === callId)?.params
      return { ...card, name, ...(title !== undefined && { title }), ...(params && { params }) }
    }),
    ...(streamed?.reasoning && { reasoning: streamed.reasoning }),
  }
  put(draft.entries, entry)
}

function toolEnded(draft: Draft, { data }: Of<'tool.status'>): void {
  const { callId, turn: _, ...told } = data
  tellOf(draft, data.seq)
  changeCard(draft.entries, { callId, before: data.seq }, ({ pending: _pending, ...card }) => ({ ...card, ...told }))
}

function forked(draft: Draft, event: Of<'session.forked'>): void {
  const { child, label, profile, callId } = event.data
  const named = { label, ...(profile !== undefined && { profile }) }
  if (callId === undefined) return note(draft, event, { is: 'forked', child, ...named })
  changeTold(draft, callId, (card) => {
    return { ...card, children: [...card.children.filter(({ id }) => id !== child), { id: child, ...named }] }
  })
}

/** Calls that have not ended by now were stopped together with their turn. */
function turnCompleted(draft: Draft, event: Of<'turn.completed'>): void {
  const { turn, stopReason } = event.data
  const { since, usage, rounds } = draft.turn ?? { since: event.at, usage: NO_USAGE, rounds: 0 }
  const ms = Math.max(0, Date.parse(event.at) - Date.parse(since))
  endTurn(draft.entries, turn)
  delete draft.turn
  delete draft.weather
  draft.streaming = []
  draft.pending = draft.pending.filter((item) => item.turn !== turn)
  note(draft, event, { is: 'turnEnded', turn, stopReason, usage, rounds, ms })
}

/** Walks back to where the turn began: a long conversation has many turns. */
function endTurn(entries: Entry[], turn: number): void {
  for (let place = entries.length - 1; place >= 0; place--) {
    const entry = entries[place] as Entry
    if (entry.kind === 'message' && entry.turn === turn) return
    if (entry.kind === 'answer' && entry.turn === turn && entry.cards.some(isOpen)) {
      entries[place] = { ...entry, cards: entry.cards.map((card) => (isOpen(card) ? stopped(card) : card)) }
    }
    // After a rewind a turn may end a second time.
    if (entry.kind === 'note' && entry.note.is === 'turnEnded' && entry.note.turn === turn) entries.splice(place, 1)
  }
}

function isOpen({ status }: Card): boolean {
  return status === 'WAIT' || status === 'DOING'
}

function stopped({ pending: _pending, ...card }: Card): Card {
  return { ...card, status: 'STOPPED' }
}
