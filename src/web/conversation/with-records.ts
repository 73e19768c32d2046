/**
 * Completes a conversation by its records: events tell the beginning of a text, records the whole of it, with images, and
 * what a fork has inherited. Pure.
 */
import type { Message } from '../../core/message.ts'
import type { Json } from '../../http/json.ts'
import { draftOf, type Conversation, type Draft } from './conversation-state.ts'
import type { AnswerEntry, Card, Entry } from './entries.ts'
import { changeCard, entryAt, put } from './entry-list.ts'
import { emptyCard } from './live-events.ts'

/** A record as it comes over HTTP. */
export interface WebRecord {
  seq: number
  at: string
  message: Json<Message>
  inheritedFrom?: string
  summarised?: boolean
}

/** Inherited records stand before all others, in their order: several sessions may have numbered them. */
const INHERITED = -1_000_000_000

/**
 * @param records a page, in the order of the transcript
 * @param position of the first of them in the transcript, from 0
 */
export function withRecords(before: Conversation, records: readonly WebRecord[], position: number): Conversation {
  const draft = draftOf(before)
  for (const [index, record] of records.entries()) {
    const seq = record.inheritedFrom === undefined ? record.seq : INHERITED + position + index
    tellRecord(draft, record, seq)
  }
  return draft
}

/**
 * Where reading goes on: behind the last record without a gap before it, because results of calls that still run are
 * missing in a page.
 *
 * @param inherited how many records of the transcript are inherited
 */
export function endOfRecords(records: readonly WebRecord[], from: number, inherited: number): number {
  const gap = records.findIndex((record, index) => {
    return record.inheritedFrom === undefined && inherited + record.seq - 1 !== from + index
  })
  return from + (gap === -1 ? records.length : gap)
}

function tellRecord({ entries }: Draft, record: WebRecord, seq: number): void {
  const message = record.message as Message
  const there = entryAt(entries, seq)
  const placed = {
    key: record.inheritedFrom === undefined ? `r${seq}` : `i${seq}`,
    seq,
    after: 0,
    at: there?.at ?? record.at,
    ...(record.inheritedFrom !== undefined && { inheritedFrom: record.inheritedFrom }),
    ...(record.summarised && { summarised: true }),
    ...(message.parts && { parts: message.parts }),
    text: message.content,
  }
  switch (message.role) {
    case 'user':
    case 'system':
      return put(entries, { ...as(there, 'message'), ...placed, kind: 'message', role: message.role })
    case 'assistant': {
      const known = as(there, 'answer')
      const cards = (message.toolCalls ?? []).map((call): Card => {
        const card = known?.cards.find(({ callId }) => callId === call.id) ?? emptyCard(call.id)
        return { ...card, name: card.name || call.name, arguments: call.arguments }
      })
      const entry: AnswerEntry = { restarts: 0, ...known, ...placed, kind: 'answer', cards }
      return put(entries, { ...entry, ...(message.model !== undefined && { model: message.model }) })
    }
    case 'tool':
      return changeCard(entries, { callId: message.toolCallId ?? '', before: seq }, (card) =>
        withResult(card, message, record),
      )
  }
}

function withResult(card: Card, { content, parts, isError }: Message, { seq }: WebRecord): Card {
  const status = isError ? ('ERROR' as const) : ('SUCCESS' as const)
  return {
    ...card,
    seq,
    content,
    ...(parts && { parts }),
    status: card.status === 'SUCCESS' || card.status === 'ERROR' ? card.status : status,
  }
}

function as<Kind extends Entry['kind']>(
  entry: Entry | undefined,
  kind: Kind,
): Extract<Entry, { kind: Kind }> | undefined {
  return entry?.kind === kind ? (entry as Extract<Entry, { kind: Kind }>) : undefined
}
