/** The effect of an edit on a text, and how a text shows whether the edit was done. Pure. */
import { Refusal } from './refusal.ts'
import { SIZE_LIMIT } from './text-file.ts'

export interface Change {
  old_string: string
  new_string: string
  replace_all?: boolean | undefined
}

/**
 * @param text `undefined` when there is no file
 * @throws Refusal saying how often the old text occurs
 */
export function replaceText(text: string | undefined, { old_string, new_string, replace_all }: Change): string {
  if (old_string === new_string) throw new Refusal('old_string and new_string are the same: nothing would change.')
  if (old_string === '') {
    if (text) throw new Refusal('old_string is empty, but the file is not: name the text that is to be replaced.')
    return new_string
  }
  if (text === undefined) throw new Refusal('The file does not exist. With an empty old_string it would be created.')
  const found = count(text, old_string)
  if (found === 0) throw new Refusal('old_string was not found in the file. It must match exactly, white space too.')
  if (found > 1 && !replace_all) {
    throw new Refusal(`old_string was found ${found} times: add context so that it is unique, or set replace_all.`)
  }
  const kept = around(text, old_string)
  if (text.length + (kept.length - 1) * (new_string.length - old_string.length) > SIZE_LIMIT) {
    throw new Refusal('The file would be larger than 10 MiB.')
  }
  return kept.join(new_string)
}

/** The parts between the replaced occurrences. */
function around(text: string, part: string): string[] {
  const pieces: string[] = []
  let end = 0
  for (const start of occurrences(text, part)) {
    if (start < end) continue
    pieces.push(text.slice(end, start))
    end = start + part.length
  }
  pieces.push(text.slice(end))
  return pieces
}

/**
 * Whether the change was made to a text. `false` also means that making it now has the intended effect. Undefined when
 * both are possible: the text may have contained the new part before, or may still contain the old part elsewhere.
 */
export function wasReplaced(text: string | undefined, change: Change): boolean | undefined {
  const { old_string, new_string, replace_all } = change
  if (old_string === '') return !text ? false : text === new_string || undefined
  if (text === undefined) return undefined
  const found = count(text, old_string)
  const mayBeMade = found === 1 || (found > 1 && replace_all === true)
  const mayBeDone = new_string === '' || occurrences(text, new_string).next().done === false
  if (mayBeMade) return mayBeDone ? undefined : false
  return found === 0 && mayBeDone ? true : undefined
}

/** How much text is compared at most to find the text before a change, in UTF-16 units. */
const COMPARED_LIMIT = 32 * 1024 * 1024

/** The texts that the change may have turned into this one, as many as can be compared in a moment. */
export function* takenBack(text: string, { old_string, new_string, replace_all }: Change): Generator<string> {
  if (replace_all && new_string !== '') {
    const kept = around(text, new_string)
    if (kept.length > 1) yield kept.join(old_string)
  }
  let left = COMPARED_LIMIT / Math.max(1, text.length)
  const places = new_string === '' ? Array(text.length + 1).keys() : occurrences(text, new_string)
  for (const at of places) {
    if (left-- < 1) return
    yield text.slice(0, at) + old_string + text.slice(at + new_string.length)
  }
}

/** Counts overlapping ones too: `aa` is not unique in `aaa`. */
function count(text: string, part: string): number {
  let found = 0
  for (const _start of occurrences(text, part)) found++
  return found
}

/**
 * All places where `part` begins in `text`, in order, overlapping ones too. The algorithm is Knuth-Morris-Pratt: it
 * never goes back, so it takes linear time. `indexOf` in a loop takes the product of both lengths, which may be hours.
 *
 * @param part not empty
 * @example [...occurrences('aaa', 'aa')] // [0, 1]
 */
function* occurrences(text: string, part: string): Generator<number, undefined> {
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
