/** The output of a command as a model reads it: its beginning and its end, as plain text. */
import stripAnsi from 'strip-ansi'

/** How many characters a model reads. */
export const OUTPUT_LIMIT = 30_000
/** Bytes that are kept of each end: a character takes at most four. */
const KEPT = (OUTPUT_LIMIT / 2) * 4

/** Keeps both ends of an output of any length. */
export class OutputEnds {
  /** Size of the whole output, in bytes. */
  size = 0
  #head: Buffer = Buffer.alloc(0)
  #tail: Buffer = Buffer.alloc(0)

  add(bytes: Buffer): void {
    this.size += bytes.length
    const room = KEPT - this.#head.length
    if (room > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, room)])
    const rest = bytes.subarray(Math.max(0, room))
    if (rest.length === 0) return
    // The tail grows to twice its size before it is cut, so that few copies are made.
    const tail = Buffer.concat([this.#tail, rest])
    this.#tail = tail.length > 2 * KEPT ? tail.subarray(tail.length - KEPT) : tail
  }

  /** @param more says where the rest is */
  text(more = ''): string {
    if (this.#head.length + this.#tail.length === this.size) {
      return bothEnds(plain(Buffer.concat([this.#head, this.#tail])), more)
    }
    const [head, tail] = [plain(this.#head), plain(this.#tail)]
    return joined(head.slice(0, OUTPUT_LIMIT / 2), tail.slice(-OUTPUT_LIMIT / 2), `of ${this.size} bytes${more}`)
  }

  /** Whether `text` leaves something out. */
  get isCut(): boolean {
    return this.size > OUTPUT_LIMIT
  }
}

/** Cuts the middle out of a text that is too long. */
export function bothEnds(text: string, more = ''): string {
  if (text.length <= OUTPUT_LIMIT) return text
  const half = OUTPUT_LIMIT / 2
  return joined(text.slice(0, half), text.slice(-half), `${text.length - OUTPUT_LIMIT} characters${more}`)
}

function joined(head: string, tail: string, what: string): string {
  return `${head}\n\n[… the middle is left out: ${what} …]\n\n${tail}`
}

/** Without colours and control characters; bytes that are no UTF-8 become U+FFFD. */
export function plain(bytes: Buffer): string {
  const text = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n')
  // oxlint-disable-next-line no-control-regex
  return stripAnsi(text).replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, (control) => (control === '\r' ? '\n' : ''))
}
