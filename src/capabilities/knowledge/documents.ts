/** The documents of a folder, and the passages that a search finds. */
import { createHash } from 'node:crypto'
import { lstat, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { glob } from 'tinyglobby'

export interface Document {
  /** Its path in the folder, with slashes. */
  path: string
  hash: string
  text: string
  passages: Passage[]
}

/** A part of a document that is found as one. */
export interface Passage {
  /** Its first line, from 1. */
  line: number
  text: string
}

/** Larger files are left out. */
const SIZE_LIMIT = 10 * 1024 * 1024
/** A passage ends at the first empty line after this many characters. */
const PASSAGE = 1200
/** A passage without an empty line ends here. */
const PASSAGE_LIMIT = 4000

/** The paths of the documents in a folder, sorted. Hidden files, links and `node_modules` are left out. */
export async function findDocuments(folder: string, extensions: readonly string[]): Promise<string[]> {
  const cwd = await realpath(folder)
  const found = await glob(
    extensions.map((extension) => `**/*.${extension}`),
    { cwd, ignore: ['**/node_modules/**'], followSymbolicLinks: false, onlyFiles: true, expandDirectories: false },
  )
  return found.toSorted()
}

/** @returns undefined if the file is no text, is too large, or is gone */
export async function readDocument(folder: string, path: string): Promise<Document | undefined> {
  const file = join(folder, path)
  const stats = await lstat(file).catch(() => undefined)
  if (!stats?.isFile() || stats.size > SIZE_LIMIT) return undefined
  const bytes = await readFile(file).catch(() => undefined)
  if (!bytes || bytes.includes(0)) return undefined
  const text = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n')
  return { path, hash: createHash('sha256').update(bytes).digest('hex'), text, passages: passagesOf(text) }
}

/** Every line is in exactly one passage, unless all of its passage is empty. */
export function passagesOf(text: string): Passage[] {
  const passages: Passage[] = []
  let part: string[] = []
  let size = 0
  let first = 1
  const end = (next: number): void => {
    const whole = part.join('\n').trimEnd()
    if (whole.trim() !== '') passages.push({ line: first, text: whole })
    part = []
    size = 0
    first = next
  }
  for (const [index, line] of text.split('\n').entries()) {
    const heading = /^#{1,6} /.test(line)
    if (size > 0 && (heading || size + line.length > PASSAGE_LIMIT || (size >= PASSAGE && line.trim() === ''))) {
      end(index + 1)
    }
    part.push(line)
    size += line.length + 1
  }
  end(0)
  return passages
}
