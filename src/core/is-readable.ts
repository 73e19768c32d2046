/** Whether a text can be read as Markdown in a time that nobody notices. Pure. */

/** Longer texts are shown as they are. */
const MOST = 200_000
/** Quotes and lists within each other: readers of Markdown call themselves for each. */
const NESTED = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){30}/m
/** Marks of one paragraph: openings that never close make readers look back at all the others. */
const MARKS = 1500

/** @example isReadable('>'.repeat(5000)) // false */
export function isReadable(text: string): boolean {
  if (text.length > MOST || NESTED.test(text)) return false
  return text.split(/\n[ \t]*\n/).every((paragraph) => (paragraph.match(/[*_[\]`~]/g)?.length ?? 0) <= MARKS)
}
