/**
 * Whether a mended text says what the broken text said. It walks through both texts. Only commas, quotes and the names
 * of constants may differ. So a comment, a tuple, a stray colon or a part of an expression never becomes a string.
 */

/** A token of JSON. */
const TOKEN = /\s*("(?:[^"\\]|\\[\s\S])*"|[{}[\],:]|[^\s{}[\],:"]+)/y
const SPACE = /\s*/y
const CONSTANTS: Record<string, string> = { None: 'null', undefined: 'null', True: 'true', False: 'false' }
const ENDS: Record<string, string> = { '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’', '´': '´' }
/**
 * A key or a value without quotes. A word that looks like a number or a constant of some language was not meant as a
 * string.
 */
const BARE = /[\p{L}_$./~][\p{L}\p{N}_$./~-]*/uy
const CONSTANT = /^(?:true|false|null|none|nil|undefined|nan|inf|infinity)$/i

/** @param mended valid JSON */
export function saysTheSame(broken: string, mended: string): boolean {
  const walk = new Walk(broken)
  let at = 0
  while (mended.slice(at).trim() !== '') {
    TOKEN.lastIndex = at
    const [, token = ''] = TOKEN.exec(mended) ?? []
    if (token === '' || !walk.pass(token)) return false
    at = TOKEN.lastIndex
  }
  return walk.ended()
}

class Walk {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  pass(token: string): boolean {
    const before = this.#at
    this.#skip(SPACE)
    if (token.startsWith('"')) return this.#passString(token.slice(1, -1))
    // A comma may be missing where there is space, and there may be one too many before a closing brace or bracket.
    if (token === ',') return this.#passMark(',') || this.#at > before
    if (token === '}' || token === ']') {
      this.#passMark(',')
      this.#skip(SPACE)
    }
    if ('{}[]:'.includes(token)) return this.#passMark(token)
    return [token, ...Object.keys(CONSTANTS).filter((name) => CONSTANTS[name] === token)].some((word) =>
      this.#passMark(word),
    )
  }

  ended(): boolean {
    this.#skip(SPACE)
    return this.#at === this.#text.length
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }

  #passMark(mark: string): boolean {
    const found = this.#text.startsWith(mark, this.#at)
    if (found) this.#at += mark.length
    return found
  }

  #passString(inside: string): boolean {
    const end = ENDS[this.#text.charAt(this.#at)]
    if (end === undefined) return this.#skip(BARE) === inside && !CONSTANT.test(inside)
    this.#at++
    let open = false
    for (let i = 0; i < inside.length; i++) {
      const [char, next] = [inside.charAt(i), inside.charAt(i + 1)]
      const [given, after] = [this.#text.charAt(this.#at), this.#text.charAt(this.#at + 1)]
      if (given === char && (char !== '\\' || after === next)) {
        const length = char === '\\' ? 2 : 1
        i += length - 1
        this.#at += length
      } else if (given === '"' && char === '\\' && next === '"') {
        // Quotes inside a string come in pairs around words. A quote that ends a word, without one before it that began
        // the word, was the end of the string.
        if (end === '"' && !(open ? this.#endsWord() : this.#beginsWord())) return false
        open = !open
        i++
        this.#at++
      } else if (given === '\\' && after === "'" && char === "'") this.#at += 2
      else return false
    }
    return this.#passMark(end)
  }

  #beginsWord(): boolean {
    return /[\s(]/.test(this.#text.charAt(this.#at - 1)) && /\S/.test(this.#text.charAt(this.#at + 1))
  }

  #endsWord(): boolean {
    return /\S/.test(this.#text.charAt(this.#at - 1)) && /[\s.,;!?)]/.test(this.#text.charAt(this.#at + 1))
  }
}
