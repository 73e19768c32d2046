/** Reads the options of a command as `getopt` does. */
import type { Word } from './word.ts'

export interface Options {
  /** Letters without a value. */
  flags?: string
  /** Letters with a value. */
  valued?: string
  /** Names without a value; with one they are known only as `--name=value`. */
  long?: readonly string[]
  longValued?: readonly string[]
}

export interface LeadingOptions {
  /** Letters, and names with `--`. */
  given: readonly string[]
  /** The value of the option at the same place; an empty word where it has none. */
  values: readonly Word[]
  /** Where the options end. */
  next: number
}

const EMPTY: Word = { text: '', known: true }

/** @returns undefined when an option is not in the list, or may be one that is known only when the command runs */
export function leadingOptions(words: readonly Word[], options: Options): LeadingOptions | undefined {
  const given: string[] = []
  const values: Word[] = []
  let next = 1
  for (let word = words[next]; word && isOption(word); word = words[next]) {
    if (!word.known) return undefined
    next++
    if (word.text === '--') break
    const read = word.text.startsWith('--')
      ? longOption(word, words[next], options)
      : letters(word, words[next], options)
    if (!read) return undefined
    given.push(...read.given)
    values.push(...read.values)
    next += read.taken
  }
  return { given, values, next }
}

/** A word that is not known may be an option, unless its source begins with another plain sign. */
export function isOption({ known, text }: Word): boolean {
  return known ? text.startsWith('-') && text !== '-' : !/^[\w./@%+=:,]/.test(text)
}

interface ReadOption {
  given: string[]
  values: Word[]
  /** How many more words belong to it. */
  taken: number
}

function longOption({ text }: Word, next: Word | undefined, options: Options): ReadOption | undefined {
  const [name = '', value] = [text.slice(2).split('=')[0], /=([^]*)$/.exec(text)?.[1]]
  const { long = [], longValued = [] } = options
  if (!long.includes(name) && !longValued.includes(name)) return undefined
  if (value !== undefined) return { given: [`--${name}`], values: [{ text: value, known: true }], taken: 0 }
  const taken = longValued.includes(name) ? 1 : 0
  return { given: [`--${name}`], values: [taken ? (next ?? EMPTY) : EMPTY], taken }
}

function letters({ text }: Word, next: Word | undefined, { flags = '', valued = '' }: Options): ReadOption | undefined {
  const read: ReadOption = { given: [], values: [], taken: 0 }
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] ?? ''
    read.given.push(letter)
    if (valued.includes(letter)) {
      const attached = text.slice(at + 1)
      read.values.push(attached ? { text: attached, known: true } : (next ?? EMPTY))
      return { ...read, taken: attached ? 0 : 1 }
    }
    if (!flags.includes(letter)) return undefined
    read.values.push(EMPTY)
  }
  return read
}
