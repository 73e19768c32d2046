/**
 * Finds a text in another one in linear time. `indexOf` in a loop takes the product of both lengths, which may be
 * hours.
 */

/**
 * All places where `part` begins in `text`, in order, overlapping ones too. The algorithm is Knuth-Morris-Pratt: it
 * never goes back.
 *
 * @param part not empty
 * @example [...occurrences('aaa', 'aa')] // [0, 1]
 */
export function* occurrences(text: string, part: string): Generator<number, undefined> {
  const borders = bordersOf(part)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
    if (part.charCodeAt(matched) === unit) matched++
    if (matched < part.length) continue
    yield at - part.length + 1
    matched = borders[matched - 1] ?? 0
  }
}

/** For each beginning of the text: how much of it is also its end. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length)
  let length = 0
  for (let at = 1; at < part.length; at++) {
    const unit = part.charCodeAt(at)
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0
    if (part.charCodeAt(length) === unit) length++
    borders[at] = length
  }
  return borders
}
