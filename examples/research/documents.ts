/** The documents that are searched: the Markdown files below one folder. */
import { readFile, readdir } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'

export interface Hit {
  /** Relative to the folder, with `/` between the parts. */
  file: string
  /** Counted from 1. */
  line: number
  text: string
}

export interface Documents {
  readonly folder: string
  files(): Promise<string[]>
  /**
   * Lines that hold at least one of the words in some form, best first: those with the most words, then those that can
   * be read alone.
   */
  search(words: string[], limit: number): Promise<Hit[]>
  lines(file: string): Promise<string[]>
}

export function openDocuments(folder: string): Documents {
  const root = resolve(folder)
  const known = new Map<string, Promise<string[]>>()
  let listed: Promise<string[]> | undefined

  const lines = (file: string): Promise<string[]> => {
    const path = resolve(root, file)
    if (!path.startsWith(root + sep)) throw new Error(`${file} is outside the documents folder`)
    const read = known.get(path) ?? readFile(path, 'utf8').then((text) => text.split(/\r?\n/))
    known.set(path, read)
    return read
  }
  const files = (): Promise<string[]> => (listed ??= list(root))

  return {
    folder: root,
    files,
    lines,
    async search(words, limit) {
      const wanted = words
        .filter((word) => word.length > 2)
        .map((word) => new RegExp(`(?<![\\p{L}\\p{N}])${stem(word)}`, 'iu'))
      const hits: (Hit & { score: number })[] = []
      for (const file of await files()) {
        const text = await lines(file)
        for (const [i, line] of text.entries()) {
          const score = rate(line, wanted)
          if (score > 0) hits.push({ file, line: i + 1, text: line.trim(), score })
        }
      }
      const best = hits.toSorted((a, b) => b.score - a.score || a.file.localeCompare(b.file) || a.line - b.line)
      return varied(best)
        .slice(0, limit)
        .map(({ score: _score, ...hit }) => hit)
    },
  }
}

async function list(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries
    .filter(
      (entry) =>
        entry.isFile() && /\.(md|mdx|markdown)$/i.test(entry.name) && !/^(license|changelog|history)/i.test(entry.name),
    )
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted()
}

function rate(line: string, words: RegExp[]): number {
  const text = line.trim()
  if (!isProse(text)) return 0
  const places = words.map((word) => text.search(word)).filter((place) => place >= 0)
  if (places.length === 0) return 0
  // The subject stands near the beginning of a line, and a whole sentence says more than the middle of one.
  const early = places.some((place) => place < 40) ? 150 : 0
  const whole = (/^([-*] |\*\*)?[A-Z`]/.test(text) ? 100 : 0) + (/[.!?][*`)]*$/.test(text) ? 200 : 0)
  return places.length * 1000 + early + whole - Math.abs(text.length - 140)
}

/** Not a heading, table, badge, link list or code. */
function isProse(text: string): boolean {
  return (
    text.length >= 50 &&
    text.length <= 400 &&
    /^[A-Z*`-]/.test(text) &&
    !/[|<>{};]|^\s*[-*] \[|!\[|https?:/.test(text) &&
    text.split(' ').length > 7
  )
}

/** One line per file, and no line twice: lines of many packages say more than many lines of one, or than copies. */
function varied<T extends Hit>(hits: T[]): T[] {
  const seen = new Set<string>()
  return hits.filter(({ file, text }) => !seen.has(file) && !seen.has(text) && seen.add(file) && seen.add(text))
}

/**
 * The beginning that all forms of a word share, for a regular expression. `behave` is found in "behaviour", but
 * `stream` is not found in "upstream".
 */
function stem(word: string): string {
  const bare = word.toLowerCase().replace(/(?<=.{4})(ations?|ating|ated?|ings?|ed|es?|s)$/, '')
  return bare.replace(/[^\p{L}\p{N}]/gu, String.raw`\$&`)
}
