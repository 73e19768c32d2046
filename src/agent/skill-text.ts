/** What a model reads of a skill, by `activate_skill` or by the tool `Skill`: its folder, its files, its text in parts. */
import type { Skill } from '../core/skill.ts'

/** Longest part, in UTF-16 units. With the folder and the names of the files it fits into one result. */
const PART = 44 * 1024
const NAMES = 4 * 1024

export interface SkillReading {
  /** Put in place of `$ARGUMENTS`, `$1`, `$2` … Unset: the text stays as it is. */
  args?: string | undefined
  /** How many characters were read before. Default 0. */
  offset?: number | undefined
}

/** The folder and the names of the files stand above the first part only. */
export function skillText({ content, folder, files = [] }: Skill, { args, offset = 0 }: SkillReading = {}): string {
  const part = partOf(args === undefined ? content : withArguments(content, args), offset)
  if (offset > 0 || folder === undefined) return part
  return [`Base directory: ${folder}`, ...(files.length > 0 ? [`Files: ${namesOf(files)}`] : []), '', part].join('\n')
}

/** A text that fits into one result stays as it is. Another one ends with a note that says how to go on. */
export function partOf(text: string, offset: number): string {
  if (offset === 0 && text.length <= PART) return text
  if (offset >= text.length) return `[There are ${text.length} characters: nothing is left from ${offset} on.]`
  const end = endOfPart(text, offset)
  const rest = end < text.length ? `read on with offset ${end}` : 'this is the end'
  return `${text.slice(offset, end)}\n[characters ${offset} to ${end} of ${text.length}; ${rest}]`
}

/** At the end of a line where one is near, and never inside a character. */
function endOfPart(text: string, offset: number): number {
  const end = offset + PART
  if (end >= text.length) return text.length
  const line = text.lastIndexOf('\n', end - 1) + 1
  if (line > offset + PART / 2) return line
  return /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end
}

function namesOf(files: readonly string[]): string {
  const all = files.join(', ')
  if (all.length <= NAMES) return all
  return `${all.slice(0, all.lastIndexOf(', ', NAMES))} … (${files.length} files)`
}

const PLACE = /\$(?:ARGUMENTS(?!\w)|([1-9])(?!\d))/g

/** `$1` stays where no arguments are given: it may be the text of a program. */
function withArguments(content: string, args: string): string {
  const given = args.trim()
  const words = wordsOf(given)
  let used = false
  const text = content.replace(PLACE, (place, number: string | undefined) => {
    if (number !== undefined && given === '') return place
    used = true
    return number === undefined ? given : (words[Number(number) - 1] ?? '')
  })
  return used || given === '' ? text : `${text}\n\nARGUMENTS: ${given}`
}

/** Words as a shell would part them; quotes keep a word together. */
function wordsOf(text: string): string[] {
  return Array.from(text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, double, single, plain]) => {
    return double ?? single ?? plain ?? ''
  })
}
