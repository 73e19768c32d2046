/** What the transcript draws, in its order. Pure. Inherited records are folded into one line for each session that owns them. */
import type { Conversation } from './conversation-state.ts'
import type { Entry, Streaming } from './entries.ts'

export type Row =
  | { kind: 'entry'; key: string; entry: Entry }
  | { kind: 'streaming'; key: string; streaming: Streaming }
  | { kind: 'inherited'; key: string; owner: string; count: number; isOpen: boolean }
  | { kind: 'sending'; key: string; text: string; failed: boolean }

/** @param unfolded the sessions whose records are shown though they are inherited */
export function rowsOf(
  { entries, streaming, taken }: Conversation,
  sending: readonly { messageId: string; text: string; failed: boolean }[],
  unfolded: ReadonlySet<string>,
): Row[] {
  const rows: Row[] = []
  let at = 0
  while (at < entries.length) {
    const owner = (entries[at] as Entry).inheritedFrom
    const end = entries.findIndex((entry, index) => index >= at && entry.inheritedFrom !== owner)
    const part = entries.slice(at, end === -1 ? entries.length : end)
    const isOpen = owner === undefined || unfolded.has(owner)
    if (owner !== undefined) {
      const count = part.reduce((sum, entry) => sum + 1 + (entry.kind === 'answer' ? entry.cards.length : 0), 0)
      rows.push({ kind: 'inherited', key: `from ${owner}`, owner, count, isOpen })
    }
    if (isOpen) rows.push(...part.map((entry): Row => ({ kind: 'entry', key: entry.key, entry })))
    at += part.length
  }
  rows.push(...streaming.map((one): Row => ({ kind: 'streaming', key: one.step, streaming: one })))
  const waiting = sending.filter(({ messageId }) => !taken.has(messageId))
  rows.push(...waiting.map(({ messageId, ...one }): Row => ({ kind: 'sending', key: messageId, ...one })))
  return rows
}

/** The row that holds a record of the session itself: its message, its answer, or the call whose result it is; -1: none yet. */
export function rowOfRecord(rows: readonly Row[], record: number): number {
  return rows.findIndex((row) => row.kind === 'entry' && holds(row.entry, record))
}

function holds(entry: Entry, record: number): boolean {
  if (entry.inheritedFrom !== undefined || entry.kind === 'note') return false
  return entry.seq === record || (entry.kind === 'answer' && entry.cards.some(({ seq }) => seq === record))
}
