/**
 * Caches the transcripts that this worker has read or written, but only the part that models are shown. Records never
 * change, so a cached beginning stays right. A worker that served a session's last step reads nothing for the next one.
 */
import type { Message } from '../../core/message.ts'
import type { Database } from '../database/database.ts'
import { foldChain } from '../ledger/hashes.ts'
import type { Branch } from '../../protocol/config.ts'
import { loadInherited, type Loaded, type Part } from './load-transcript.ts'
import { withoutLeftOut } from './left-out.ts'
import { readOwnRecords, type StoredRecord } from './records.ts'
import type { Summary } from './summaries.ts'
import type { NewRecord } from '../ledger/writes.ts'

const DEFAULT_LIMIT_BYTES = 64 * 1024 * 1024
/** Memory of an entry without records. */
const EMPTY_BYTES = 600

export interface Transcript {
  /** The summary of everything before the messages. */
  summary?: Summary
  /** The messages that models may read and no summary stands for. The inherited ones come first. */
  messages: Message[]
  /** Chain hash after the last message. */
  chain: string
  /** How many tokens a provider counted for one of our estimate, last time. */
  density?: number
  /** The place of a message. */
  branchOf(index: number): Branch
}

interface Entry extends Loaded {
  sessionId: string
  gen: number
  own: StoredRecord[]
  /**
   * Records that were written out of order (results of parallel calls). They wait here until the gap before them is
   * filled.
   */
  ahead: Map<number, StoredRecord>
  bytes: number
}

export class TranscriptCache {
  readonly #entries = new Map<string, Entry>()
  /** Transcripts that are being read for the first time: several readers of a long transcript read it once. */
  readonly #loading = new Map<string, Promise<Entry>>()
  readonly #limit: number
  #bytes = 0

  constructor(limitBytes: number = DEFAULT_LIMIT_BYTES) {
    this.#limit = limitBytes
  }

  /**
   * @param leftOut how many turns of the session are known to be left out: a cached transcript that knows fewer is read anew
   * @throws StelloError STORE_CORRUPT when a record up to `upTo` is missing
   */
  async read(
    db: Database,
    { sessionId, gen, seq: upTo }: Branch,
    { leftOut = 0 }: { leftOut?: number | undefined } = {},
  ): Promise<Transcript> {
    const known = this.#entries.get(sessionId)
    if (known && known.leftOut.length < leftOut) this.#drop(sessionId, known)
    const entry = await this.#entry(db, { sessionId, gen, seq: upTo })
    // A place before the end of the summary: a fork of an older part, for example.
    if (upTo < entry.from) return toTranscript(await load(db, { sessionId, gen, seq: upTo }), upTo)
    await this.#readOn(db, entry, upTo)
    this.#touch(sessionId, entry)
    const transcript = toTranscript(entry, upTo)
    const isWhole = !transcript.summary || transcript.messages.length > 0
    return isWhole ? transcript : toTranscript(await load(db, { sessionId, gen, seq: upTo }), upTo)
  }

  /** Adds the records of a settle that won. */
  append(sessionId: string, gen: number, records: readonly NewRecord[]): void {
    const entry = this.#entries.get(sessionId)
    if (!entry) return
    if (entry.gen !== gen) return this.#drop(sessionId, entry)
    const unknown = records.filter(({ seq }) => seq > lastOf(entry) && !entry.ahead.has(seq)).map(shown)
    for (const record of unknown) entry.ahead.set(record.seq, record)
    this.#count(sessionId, entry, sizeOf(unknown))
    for (let next = entry.ahead.get(lastOf(entry) + 1); next; next = entry.ahead.get(lastOf(entry) + 1)) {
      entry.ahead.delete(next.seq)
      entry.own.push(next)
    }
    this.#touch(sessionId, entry)
  }

  /** The session has a new summary, or may have one, so the next read begins behind it. */
  forget(sessionId: string): void {
    const entry = this.#entries.get(sessionId)
    if (entry) this.#drop(sessionId, entry)
  }

  /** To be called when the store may have been restored to an earlier state. */
  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  async #readOn(db: Database, entry: Entry, upTo: number): Promise<void> {
    const { sessionId, gen } = entry
    if (lastOf(entry) >= upTo) return
    const rows = await readOwnRecords(db, { sessionId, gen, seq: upTo }, lastOf(entry))
    // Perhaps another read has added the same rows meanwhile.
    const added = rows.filter((row) => row.seq > lastOf(entry))
    for (const record of added) entry.own.push(record)
    const overtaken = [...entry.ahead.values()].filter(({ seq }) => seq <= lastOf(entry))
    for (const { seq } of overtaken) entry.ahead.delete(seq)
    this.#count(sessionId, entry, sizeOf(added) - sizeOf(overtaken))
  }

  async #entry(db: Database, at: Branch): Promise<Entry> {
    const { sessionId, gen } = at
    const known = this.#entries.get(sessionId)
    if (known?.gen === gen) return known
    if (known) this.#drop(sessionId, known)
    const key = `${sessionId}/${gen}`
    const loading = this.#loading.get(key) ?? open(db, at).finally(() => this.#loading.delete(key))
    this.#loading.set(key, loading)
    const entry = await loading
    const other = this.#entries.get(sessionId)
    if (other?.gen === gen) return other
    if (other) this.#drop(sessionId, other)
    this.#bytes += entry.bytes
    this.#entries.set(sessionId, entry)
    return entry
  }

  /** Does not count an entry that was dropped while it was being read. */
  #count(sessionId: string, entry: Entry, bytes: number): void {
    entry.bytes += bytes
    if (this.#entries.get(sessionId) === entry) this.#bytes += bytes
  }

  /** Drops the least recently used entries first. The entry in use stays, even if it is too big. */
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

/** An entry without the session's own records. */
async function open(db: Database, at: Branch): Promise<Entry> {
  const { sessionId, gen } = at
  const loaded = await loadInherited(db, at)
  const kept = loaded.inherited.reduce((sum, { records }) => sum + sizeOf(records), 0)
  const bytes = EMPTY_BYTES + kept + heapBytes(loaded.summary?.text)
  return { ...loaded, sessionId, gen, own: [], ahead: new Map(), bytes }
}

/** For one reader: nothing of it is kept. */
async function load(db: Database, at: Branch): Promise<Entry> {
  const entry = await open(db, at)
  entry.own.push(...(await readOwnRecords(db, at, entry.from)))
  return entry
}

/** The last of the session's own records that is known. */
function lastOf({ from, own }: Entry): number {
  return from + own.length
}

function toTranscript({ sessionId, gen, summary, inherited, from, own, leftOut }: Entry, upTo: number): Transcript {
  const parts: Part[] = [...inherited, { sessionId, gen, records: own.slice(0, upTo - from), leftOut }]
  const read = parts.map((part) => ({ ...part, records: withoutLeftOut(part.records, part.leftOut) }))
  const records = read.flatMap((part) => part.records)
  const last = parts.findLast((part) => part.records.length > 0)?.records ?? []
  const density = records.findLast((record) => record.density)?.density
  return {
    ...(summary && { summary }),
    messages: records.map((record) => record.message),
    chain: foldChain(last),
    ...(density && { density }),
    branchOf(index) {
      let before = 0
      for (const { records: some, ...whose } of read) {
        const record = some[index - before]
        if (record) return { sessionId: whose.sessionId, gen: whose.gen, seq: record.seq }
        before += some.length
      }
      throw new Error(`the transcript of session ${sessionId} has no message ${index}`)
    },
  }
}

/**
 * Leaves out the whole text of a cut result. The message is copied, because V8 keeps the beginning of a text as a view
 * of the text, and so keeps all of it in memory. A message that was read from the store is a copy already.
 */
function shown({ seq, message, chain, density }: NewRecord): StoredRecord {
  return { seq, message: JSON.parse(JSON.stringify(message)) as Message, chain, ...(density && { density }) }
}

/**
 * The memory of records, with their chain hashes and with their place in the map of records that wait for earlier ones.
 */
function sizeOf(records: readonly StoredRecord[]): number {
  return records.reduce((sum, { message }) => sum + 200 + heapBytes(message), 0)
}

/** If a text has a letter beyond Latin-1, V8 uses two bytes for each of its letters. */
const WIDE = /[\u0100-\uffff]/

/** Estimates the memory of a JSON value. */
function heapBytes(value: unknown): number {
  if (typeof value === 'string') return 24 + value.length * (WIDE.test(value) ? 2 : 1)
  if (typeof value !== 'object' || value === null) return 8
  return Object.values(value).reduce<number>((sum, each) => sum + 8 + heapBytes(each), 48)
}
