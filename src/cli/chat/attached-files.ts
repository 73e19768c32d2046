/** Files that a message names with `@path`: their text goes with it. Never reads more than a message may hold. */
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { StelloError } from '../../core/errors.ts'

/** The most bytes of one file. */
export const FILE_LIMIT: number = 256 * 1024

const NAMED = /(^|\s)@(?:"([^"\n]+)"|(\S+))/g

/**
 * The message with the text of every file that it names. A word behind `@` that is no file stays as it is.
 *
 * @param folder paths are relative to it
 * @throws StelloError INVALID_MESSAGE when a file is too big, binary or cannot be read: nothing must be sent then
 * @example await withFiles('what is wrong in @src/a.ts?', '.')
 */
export async function withFiles(text: string, folder: string): Promise<string> {
  const paths = [...new Set([...text.matchAll(NAMED)].map(([, , quoted, plain]) => quoted ?? plain ?? ''))]
  const files = await Promise.all(paths.map((path) => fileText(path, folder)))
  const found = files.flatMap((file, at) => (file === undefined ? [] : [block(paths[at] ?? '', file)]))
  return [text, ...found].join('\n\n')
}

/** Fenced by more backticks than the file has anywhere. */
function block(path: string, file: string): string {
  const longest = Math.max(2, ...[...file.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${path}:\n${fence}\n${file.replace(/\n$/, '')}\n${fence}`
}

/** @returns undefined: there is no such file */
async function fileText(path: string, folder: string): Promise<string | undefined> {
  const file = await open(resolve(folder, path), 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ENAMETOOLONG') return undefined
    throw unreadable(path, error.message)
  })
  if (!file) return undefined
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw unreadable(path, 'it is no file')
    if (stat.size > FILE_LIMIT)
      throw unreadable(path, `it has ${stat.size} bytes, and at most ${FILE_LIMIT} go with a message`)
    const bytes = await file.readFile()
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (text.includes('\0')) throw unreadable(path, 'it is binary')
    return text
  } catch (error) {
    throw error instanceof TypeError ? unreadable(path, 'it is binary') : error
  } finally {
    await file.close()
  }
}

function unreadable(path: string, why: string): StelloError {
  return new StelloError('INVALID_MESSAGE', `@${path} cannot go with the message: ${why}`, {
    hint: 'nothing was sent; name the path without @ so that the agent reads it by itself',
  })
}
