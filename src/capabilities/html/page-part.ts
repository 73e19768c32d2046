/** A page that is too long for one result is read in parts. */
import { NetworkRefusal } from '../network/network-refusal.ts'

/** Length of a part, in UTF-16 units: less than a model reads of any result. */
export const PAGE_PART = 40_000

/**
 * @param offset where the part begins, as the part before has said
 * @returns the part, and which it is: `characters 0-40000 of 90000, use offset=40000 to read on`
 * @throws NetworkRefusal when it would begin behind the end
 */
export function pagePart(text: string, offset: number): { part: string; which: string } {
  if (offset > 0 && offset >= text.length) {
    throw new NetworkRefusal(
      'network_error',
      `offset ${offset} is behind the end: the page has ${text.length} characters.`,
    )
  }
  const end = Math.min(text.length, offset + PAGE_PART)
  const more = end < text.length ? `, use offset=${end} to read on` : ''
  return { part: text.slice(offset, end), which: `characters ${offset}-${end} of ${text.length}${more}` }
}
