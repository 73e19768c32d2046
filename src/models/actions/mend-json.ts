/**
 * The last try to read an object in a reply: `jsonrepair` for text that is almost JSON. It must never lose, invent or
 * move a word. Text that needs more than a change of punctuation counts as no JSON: a part of an action may do the
 * opposite of the whole action.
 */
import { jsonrepair } from 'jsonrepair'
import { parseObjectJson } from '../../core/parse-json.ts'
import { saysTheSame } from './same-words.ts'
import { OutOfTime, withinTime } from './within-time.ts'

/**
 * The limits for one reply, in UTF-16 units and in milliseconds. On hostile text the time of jsonrepair is quadratic,
 * so it is slow even for a text within the first limit.
 */
const MEND_LIMIT = 8 * 1024
const MEND_MS = 250

const STRING = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/g

/** Mends the texts of one reply. They share the limit of length. */
export class Mender {
  #left = MEND_LIMIT

  /** @param text a balanced text that begins with a brace and whose escapes are legal */
  mend(text: string): Record<string, unknown> | null {
    if (text.length > this.#left) return null
    this.#left -= text.length
    const mended = this.#repair(text)
    return mended !== undefined && isSafe(text, mended) ? parseObjectJson(mended) : null
  }

  #repair(text: string): string | undefined {
    try {
      return withinTime(MEND_MS, () => jsonrepair(text))
    } catch (error) {
      // Other errors are a JSONRepairError, or a RangeError because jsonrepair is recursive.
      if (error instanceof OutOfTime) this.#left = 0
      return undefined
    }
  }
}

/**
 * Whether the mended text says the same. If jsonrepair took a quote inside a string for its end, a string with an odd
 * number of quotes in it is left.
 */
function isSafe(text: string, mended: string): boolean {
  const evenQuotes = (mended.match(STRING) ?? []).every((string) => (string.match(/\\"/g) ?? []).length % 2 === 0)
  return evenQuotes && saysTheSame(text, mended)
}
