/** The order of a conversation, and finding in it. Pure. It must never change an entry, only replace it. */
import type { AnswerEntry, Card, Entry } from './entries.ts'

/** Below 0 if `one` stands before `other`. */
function inOrder(one: Entry, other: Entry): number {
  return one.seq - other.seq || one.after - other.after
}

/** Where an entry of that place stands, or would stand. */
function indexFor(entries: readonly Entry[], seq: number, after: number): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = entries[middle] as Entry
    if ((entry.seq - seq || entry.after - after) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The entry of a record; undefined if there is none yet. */
export function entryAt(entries: readonly Entry[], seq: number): Entry | undefined {
  const entry = entries[indexFor(entries, seq, 0)]
  return entry?.seq === seq && entry.after === 0 ? entry : undefined
}

/** Puts an entry at its place. It replaces the one that stands there. */
export function put(entries: Entry[], entry: Entry): void {
  const place = indexFor(entries, entry.seq, entry.after)
  const there = entries[place]
  entries.splice(place, there && inOrder(there, entry) === 0 ? 1 : 0, entry)
}

/** A call that an answer before that record has asked for: ids may come again. Without a record, the last one counts. */
interface CallBefore {
  callId: string
  before?: number
}

/** The answer before a record that has asked for the call. */
function askedFor(entries: readonly Entry[], { callId, before = Infinity }: CallBefore): AnswerEntry | undefined {
  for (let place = indexFor(entries, before, 0) - 1; place >= 0; place--) {
    const entry = entries[place] as Entry
    if (entry.kind === 'answer' && entry.cards.some((card) => card.callId === callId)) return entry
  }
  return undefined
}

/** Changes the card of a call where it stands. Nothing happens if no answer before that record has asked for it. */
export function changeCard(entries: Entry[], which: CallBefore, change: (card: Card) => Card): void {
  const { callId } = which
  const answer = askedFor(entries, which)
  if (!answer) return
  put(entries, { ...answer, cards: answer.cards.map((card) => (card.callId === callId ? change(card) : card)) })
}
