/** Reads some lines of a text file of any size. It reads the whole file and keeps only what is shown. */
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { numbered } from './shown-change.ts'

const LINE_LIMIT = 2000
/** Longest text, in UTF-16 units: less than what the model reads of any result. */
const TOTAL_LIMIT = 48 * 1024

export interface ShownLines {
  lines: string[]
  /** The number of lines in the file. */
  total: number
  /** SHA-256 of the bytes, in hex. */
  hash: string
}

export interface Wanted {
  /** Counted from 1. */
  first: number
  count: number
  signal: AbortSignal
}

export async function readLines(file: FileHandle, encoding: string, wanted: Wanted): Promise<ShownLines> {
  const hash = createHash('sha256')
  const decoder = new TextDecoder(encoding)
  const shown = new LineCollector(wanted)
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>) {
    wanted.signal.throwIfAborted()
    hash.update(chunk)
    shown.add(decoder.decode(chunk, { stream: true }))
  }
  shown.add(decoder.decode())
  return { ...shown.end(), hash: hash.digest('hex') }
}

/** Lines of a text that is in memory. */
export function linesOf(text: string, wanted: Pick<Wanted, 'first' | 'count'>): Omit<ShownLines, 'hash'> {
  const shown = new LineCollector(wanted)
  shown.add(text)
  return shown.end()
}

class LineCollector {
  readonly #wanted: Pick<Wanted, 'first' | 'count'>
  readonly #lines: string[] = []
  #left = TOTAL_LIMIT
  #full = false
  #total = 0
  /** The line that is being read: its beginning, and how long it is. */
  #line = ''
  #length = 0

  constructor(wanted: Pick<Wanted, 'first' | 'count'>) {
    this.#wanted = wanted
  }

  add(text: string): void {
    let at = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      this.#grow(text.slice(at, end))
      this.#endLine()
      at = end + 1
    }
    this.#grow(text.slice(at))
  }

  end(): { lines: string[]; total: number } {
    if (this.#length > 0) this.#endLine()
    return { lines: this.#lines, total: this.#total }
  }

  #grow(piece: string): void {
    this.#length += piece.length
    if (this.#line.length <= LINE_LIMIT) this.#line += piece.slice(0, LINE_LIMIT + 1)
  }

  #endLine(): void {
    const { first, count } = this.#wanted
    const number = ++this.#total
    if (number >= first && number < first + count && !this.#full) {
      const whole = this.#length <= LINE_LIMIT + 1 ? this.#line.replace(/\r$/, '') : this.#line
      const line = numbered(number, whole.length > LINE_LIMIT ? `${whole.slice(0, LINE_LIMIT)}… (line cut)` : whole)
      this.#left -= line.length + 1
      this.#full = this.#left < 0
      if (!this.#full) this.#lines.push(line)
    }
    this.#line = ''
    this.#length = 0
  }
}
