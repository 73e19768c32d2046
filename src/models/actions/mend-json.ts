/**
 * The last try to read an object in a reply: `jsonrepair` for text that is almost JSON. Must never lose, invent or move
 * a word. Text that needs more than a change of punctuation is no JSON: half an action may do the opposite of the
 * whole.
 */
import { jsonrepair } from 'jsonrepair'
import { parseObjectJson } from '../../core/parse-json.ts'
import { saysTheSame } from './same-words.ts'
import { OutOfTime, withinTime } from './within-time.ts'

/**
 * The limit for one reply, in UTF-16 units and in time: on hostile text jsonrepair is quadratic, and slow even within
 * the limit.
 */
const MEND_LIMIT = 8 * 1024
const MEND_MS = 250

const STRING = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/g

/** Mends the texts of one reply, which share the limit. */
export class Mender {
  #left = MEND_LIMIT

  /** @param text balanced, begins with a brace, its escapes are legal */
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
      // Other errors are a JSONRepairError, or a RangeError because it is recursive.
      if (error instanceof OutOfTime) this.#left = 0
      return undefined
    }
  }
}

/** A quote that was wrongly read as the end of a string leaves a single quote in the rest. */
function isSafe(text: string, mended: string): boolean {
  const evenQuotes = (mended.match(STRING) ?? []).every((string) => (string.match(/\\"/g) ?? []).length % 2 === 0)
  return evenQuotes && saysTheSame(text, mended)
}
