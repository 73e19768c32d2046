/**
 * Reads one JSON object while it streams in, and reports it token by token. Each token is written in the shortest way,
 * so all tokens together are what `JSON.stringify` makes of the object. Wrong escapes are repaired as in
 * `repairEscapes`. From the place on where the text is no JSON, nothing more is reported, but the end of the object is
 * still found. It must never read a character twice.
 */

export type Token =
  /** `{ } [ ] , :` */
  | { kind: 'mark'; text: string }
  | { kind: 'quote'; text: '"'; opens: boolean }
  /** A piece of a string, as it is written in JSON and as it is meant. */
  | { kind: 'chars'; text: string; value: string }
  | { kind: 'scalar'; text: string }

const DEPTH_LIMIT = 200
const PLAIN = /[^"\\]+/y
const SCALAR = /[^\s{}[\],:"]+/y
const ESCAPES: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

export class JsonWalk {
  /** The object is closed. */
  ended = false
  /** Nested deeper than any object that is read. */
  tooDeep = false
  /** It is no JSON. */
  broken = false
  readonly #tell: (token: Token) => void
  #depth = 0
  #braces = 0
  #quoted = false
  /** An escape, the first half of a surrogate pair, or a number or word that may go on. */
  #held = ''

  constructor(tell: (token: Token) => void) {
    this.#tell = tell
  }

  /** @returns where the object ended, or the length of the text */
  read(text: string, from = 0): number {
    let at = from
    while (at < text.length && !this.ended) at = this.#quoted ? this.#inString(text, at) : this.#outside(text, at)
    return at
  }

  #outside(text: string, at: number): number {
    SCALAR.lastIndex = at
    const [scalar] = SCALAR.exec(text) ?? []
    if (scalar !== undefined) {
      if (!this.broken) this.#held += scalar
      return SCALAR.lastIndex
    }
    this.#endScalar()
    const char = text.charAt(at)
    if (char === '"') {
      this.#quoted = true
      this.#say({ kind: 'quote', text: '"', opens: true })
    } else if (/\S/.test(char)) this.#mark(char)
    return at + 1
  }

  #mark(char: string): void {
    if ('{['.includes(char) && ++this.#depth > DEPTH_LIMIT) this.broken = this.tooDeep = true
    if ('}]'.includes(char)) this.#depth--
    if (char === '{') this.#braces++
    if (char === '}') this.#braces--
    this.ended = this.#braces === 0
    if (this.ended && this.#depth !== 0) this.broken = true
    this.#say({ kind: 'mark', text: char })
  }

  #endScalar(): void {
    if (this.#held === '') return
    try {
      this.#say({ kind: 'scalar', text: JSON.stringify(JSON.parse(this.#held)) })
    } catch {
      this.broken = true
    }
    this.#held = ''
  }

  #inString(text: string, at: number): number {
    if (this.#held.startsWith('\\')) return this.#escape(text, at)
    const char = text.charAt(at)
    if (char === '"') {
      this.#chars('')
      this.#quoted = false
      this.#say({ kind: 'quote', text: '"', opens: false })
      return at + 1
    }
    if (char === '\\') {
      this.#half = this.#held
      this.#held = '\\'
      return at + 1
    }
    PLAIN.lastIndex = at
    const [plain = ''] = PLAIN.exec(text) ?? []
    this.#chars(plain)
    return at + plain.length
  }

  /** The first half of a surrogate pair that stands before an escape. */
  #half = ''

  #escape(text: string, at: number): number {
    this.#held += text.charAt(at)
    const escape = this.#held
    if (escape[1] === 'u' && /^\\u[0-9a-fA-F]{0,3}$/.test(escape)) return at + 1
    this.#held = this.#half
    this.#half = ''
    if (/^\\u[0-9a-fA-F]{4}$/.test(escape)) {
      this.#chars(String.fromCharCode(Number.parseInt(escape.slice(2), 16)))
      return at + 1
    }
    const legal = escape.length === 2 ? ESCAPES[escape.charAt(1)] : undefined
    if (legal !== undefined) {
      this.#chars(legal)
      return at + 1
    }
    // The last character may be a quote or begin an escape of its own, unless the backslash stood directly before it.
    const own = escape.length === 2 ? escape : escape.slice(0, -1)
    this.#chars(own)
    return escape.length === 2 ? at + 1 : at
  }

  /** Reports a piece of a string. The first half of a surrogate pair is held back until the second half comes. */
  #chars(given: string): void {
    const whole = this.#held + given
    const split = given !== '' && /[\uD800-\uDBFF]$/.test(whole)
    const value = split ? whole.slice(0, -1) : whole
    this.#held = split ? whole.slice(-1) : ''
    if (value !== '') this.#say({ kind: 'chars', text: JSON.stringify(value).slice(1, -1), value })
  }

  #say(token: Token): void {
    if (!this.broken) this.#tell(token)
  }
}
