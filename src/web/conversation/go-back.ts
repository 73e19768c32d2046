/** What a rewind takes out of a conversation: everything after the last record that stays. Pure. */
import type { GoneBack } from '../../protocol/events.ts'
import type { Draft } from './conversation-state.ts'
import type { Card, Entry, Happening } from './entries.ts'

/** Forks that a client has made stay: no rewind undoes them. */
export function goBack(draft: Draft, { seq, turn }: GoneBack): void {
  const ended = draft.entries.find((entry) => entry.kind === 'note' && endOf(entry.note) === turn)
  draft.entries = draft.entries.flatMap((entry) => (stays(entry, seq, turn) ? [withoutFuture(entry, seq)] : []))
  draft.lastSeq = Math.min(draft.lastSeq, seq)
  draft.streaming = []
  draft.pending = []
  draft.closed = false
  delete draft.pause
  delete draft.weather
  if (draft.turn && draft.turn.n > turn) delete draft.turn
  if (ended && !draft.entries.includes(ended)) {
    draft.turn = { n: turn, since: ended.at, usage: { inputTokens: 0, outputTokens: 0 }, rounds: 0 }
  }
}

function endOf(note: Happening): number | undefined {
  return note.is === 'turnEnded' ? note.turn : undefined
}

function stays(entry: Entry, seq: number, turn: number): boolean {
  if (entry.kind !== 'note') return entry.seq <= seq
  const { note } = entry
  if (note.is === 'forked' || note.is === 'wentBack') return true
  return note.is === 'turnEnded' ? note.turn <= turn && entry.seq <= seq : entry.seq <= seq && note.is !== 'closed'
}

/** A call whose result is abandoned has not ended. */
function withoutFuture(entry: Entry, seq: number): Entry {
  if (entry.kind === 'note') return entry.seq <= seq ? entry : { ...entry, seq }
  if (entry.kind !== 'answer' || entry.cards.every((card) => (card.seq ?? 0) <= seq)) return entry
  return { ...entry, cards: entry.cards.map((card) => ((card.seq ?? 0) <= seq ? card : reopened(card))) }
}

function reopened({ callId, name, title, arguments: args, params }: Card): Card {
  return {
    callId,
    name,
    ...(title !== undefined && { title }),
    arguments: args,
    ...(params && { params }),
    status: 'WAIT',
    updates: {},
    attempt: 0,
    restarts: 0,
    children: [],
  }
}
