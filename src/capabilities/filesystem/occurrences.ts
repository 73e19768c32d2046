/** Finds a text in another in time that grows with both, not with their product: for that, `indexOf` may take hours. */

/**
 * Where `part` begins in `text`: overlapping ones too, in order. Knuth, Morris, Pratt: no character is gone back to.
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

/** Of each beginning of the text: how much of it is also its end. */
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
