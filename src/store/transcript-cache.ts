/**
 * Transcripts this worker has read or written. Records never change, so a cached prefix stays right; a worker that
 * served the last step reads nothing for the next one.
 */
import type { Message } from '../agent/message.ts'
import type { Database } from './database.ts'
import { foldChain } from './hashes.ts'
import { readInherited, readOwnRecords, type StoredRecord } from './records.ts'
import type { NewRecord } from './writes.ts'

const DEFAULT_LIMIT_BYTES = 64 * 1024 * 1024

export interface Transcript {
  /** Inherited ones first. */
  messages: Message[]
  /** Chain hash at the end. */
  chain: string
}

interface Entry {
  gen: number
  inherited: StoredRecord[]
  own: StoredRecord[]
  /** Written out of order (results of parallel calls), until the gap before them is closed. */
  ahead: Map<number, StoredRecord>
  bytes: number
}

export class TranscriptCache {
  readonly #entries = new Map<string, Entry>()
  readonly #limit: number
  #bytes = 0

  constructor(limitBytes: number = DEFAULT_LIMIT_BYTES) {
    this.#limit = limitBytes
  }

  /** @throws StelloError STORE_CORRUPT when a record up to `upTo` is missing */
  async read(db: Database, sessionId: string, gen: number, upTo: number): Promise<Transcript> {
    const entry = await this.#entry(db, sessionId, gen)
    if (entry.own.length < upTo) {
      const known = entry.own.length
      const rows = await readOwnRecords(db, { sessionId, gen, seq: upTo }, known)
      // Another read may have added the same rows meanwhile.
      this.#add(
        sessionId,
        entry,
        rows.filter((row) => row.seq > entry.own.length),
      )
      for (const seq of entry.ahead.keys()) if (seq <= entry.own.length) entry.ahead.delete(seq)
    }
    this.#touch(sessionId, entry)
    const records = [...entry.inherited, ...entry.own.slice(0, upTo)]
    return { messages: records.map((record) => record.message), chain: foldChain(records) }
  }

  /** What a won settle wrote. */
  append(sessionId: string, gen: number, records: readonly NewRecord[]): void {
    const entry = this.#entries.get(sessionId)
    if (!entry) return
    if (entry.gen !== gen) return this.#drop(sessionId, entry)
    for (const record of records) if (record.seq > entry.own.length) entry.ahead.set(record.seq, record)
    for (let next = entry.ahead.get(entry.own.length + 1); next; next = entry.ahead.get(entry.own.length + 1)) {
      entry.ahead.delete(next.seq)
      this.#add(sessionId, entry, [next])
    }
  }

  /** The store may have been put back to an earlier state. */
  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  async #entry(db: Database, sessionId: string, gen: number): Promise<Entry> {
    const known = this.#entries.get(sessionId)
    if (known?.gen === gen) return known
    if (known) this.#drop(sessionId, known)
    const entry: Entry = { gen, inherited: [], own: [], ahead: new Map(), bytes: 0 }
    entry.inherited = await readInherited(db, sessionId)
    entry.bytes = sizeOf(entry.inherited)
    const other = this.#entries.get(sessionId)
    if (other?.gen === gen) return other
    if (other) this.#drop(sessionId, other)
    this.#bytes += entry.bytes
    this.#entries.set(sessionId, entry)
    return entry
  }

  /** An entry that was dropped while it was being read is no longer counted. */
  #add(sessionId: string, entry: Entry, records: StoredRecord[]): void {
    for (const record of records) entry.own.push(record)
    const bytes = sizeOf(records)
    entry.bytes += bytes
    if (this.#entries.get(sessionId) === entry) this.#bytes += bytes
  }

  /** The least recently used go first; the one in use stays, however big. */
  #touch(sessionId: string, entry: Entry): void {
    if (this.#entries.get(sessionId) !== entry) return
    this.#entries.delete(sessionId)
    this.#entries.set(sessionId, entry)
    for (const [id, oldest] of this.#entries) {
      if (this.#bytes <= this.#limit || id === sessionId) return
      this.#drop(id, oldest)
    }
  }

  #drop(sessionId: string, entry: Entry): void {
    if (this.#entries.delete(sessionId)) this.#bytes -= entry.bytes
  }
}

/** A record costs its text and some objects around it. */
function sizeOf(records: readonly StoredRecord[]): number {
  return records.reduce((sum, { message }) => sum + 400 + 2 * (message.content.length + partsLength(message)), 0)
}

function partsLength({ parts = [], toolCalls = [] }: Message): number {
  const inParts = parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : part.data.length), 0)
  return toolCalls.reduce((sum, call) => sum + call.arguments.length, inParts)
}
