/** Read: shows lines of a text file, a picture, or the names in a directory. */
import { lstat, readdir, type FileHandle } from 'node:fs/promises'
import { basename, dirname, extname, join, relative } from 'node:path'
import { isBinaryFile } from 'isbinaryfile'
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import { atPlace, type Place, type SandboxManager } from './locate.ts'
import { parseNotebook, showNotebook } from './notebook.ts'
import { withFile } from './open-file.ts'
import { atFile, inFolder } from './open-folder.ts'
import { protectedBy } from './protected.ts'
import { linesOf, readLines } from './read-lines.ts'
import { codeOf, Refusal } from './refusal.ts'
import { SIZE_LIMIT } from './text-file.ts'
import { touched } from './touched.ts'
import { remember, versionLine, versionOf } from './versions.ts'

const schema = z.object({
  file_path: z.string().describe('Path of the file, relative to the working directory'),
  offset: z.number().int().min(0).optional().describe('The first line to read, from 1'),
  limit: z.number().int().min(1).optional().describe('How many lines to read; default 2000'),
})
type Input = z.output<typeof schema>

const LINES = 2000
const ENTRIES = 500
/** Finding the end of a larger file takes too long. */
const WHOLE_LIMIT = 256 * 1024 * 1024
const PICTURE_LIMIT = 5 * 1024 * 1024
const HEAD = 4096

export function readTool(sandbox: SandboxManager): Tool {
  return createTool({
    name: 'Read',
    kind: 'readonly',
    effect: 'pure',
    runsIn: 'workspace',
    description: {
      short: 'Reads a file of the working directory, or lists a directory.',
      usageNotes: [
        'Lines come as number→text; at most 2000 lines and 48 Ki characters at once, the last line says how to go on',
        'A Jupyter notebook is shown as its cells with their ids and outputs',
        'Pictures (png, jpeg, gif, webp) are shown as such',
      ],
    },
    aliases: { filePath: 'file_path', path: 'file_path' },
    schema,
    touches: ({ file_path }, ctx) => touched(sandbox, { session: ctx, given: file_path }, ['read']),
    execute: (args, ctx) =>
      atPlace(sandbox, { session: ctx, given: args.file_path }, (place) =>
        read({ ...place, hidden: protectedBy(sandbox.protect) }, args, ctx),
      ),
  })
}

type Shown = Place & { hidden: (name: string) => boolean }

async function read(place: Shown, args: Input, ctx: ToolContext): Promise<unknown> {
  if (await isDirectory(place)) return listDirectory(place)
  return withFile(place, async (file, size) => {
    if (size > WHOLE_LIMIT && args.offset === undefined && args.limit === undefined) {
      throw new Refusal(`${place.name} is larger than 256 MiB: give offset and limit, or search it.`)
    }
    const buffer = Buffer.alloc(HEAD)
    const head = buffer.subarray(0, (await file.read(buffer, 0, HEAD, 0)).bytesRead)
    const mimeType = pictureType(head)
    if (mimeType) {
      if (size > PICTURE_LIMIT) throw new Refusal(`${place.name} is a picture larger than 5 MiB.`)
      return { content: [{ type: 'image', data: (await file.readFile()).toString('base64'), mimeType }] }
    }
    const encoding = encodingOf(head)
    if (encoding === 'utf-8' && (await isBinaryFile(head, head.length))) {
      throw new Refusal(`${place.name} is a binary file (${extname(place.name) || 'no extension'}); it cannot be read.`)
    }
    const first = Math.max(1, args.offset ?? 1)
    const wanted = { first, count: args.limit ?? LINES, signal: ctx.signal }
    const notebook = isNotebook(place.name) && size <= SIZE_LIMIT ? await readNotebook(file, place.name) : undefined
    const shown = notebook ? { ...linesOf(notebook.text, wanted), hash: notebook.hash } : undefined
    const { lines, total, hash } = shown ?? (await readLines(file, encoding, wanted))
    if (total > 0 && first > total)
      throw new Refusal(`offset ${first} is behind the end: ${place.name} has ${total} lines.`)
    remember(place, hash, ctx)
    if (total === 0) return `The file is empty.\n${versionLine(place.name, 'no lines', hash)}`
    const last = first + lines.length - 1
    const more = last < total ? `, use offset=${last + 1} to read on` : ''
    return [...lines, versionLine(place.name, `lines ${first}-${last} of ${total}${more}`, hash)].join('\n')
  })
}

const isNotebook = (name: string): boolean => extname(name).toLowerCase() === '.ipynb'

/** @returns undefined for one that cannot be shown as cells: it is read as any text is */
async function readNotebook(file: FileHandle, name: string): Promise<{ text: string; hash: string } | undefined> {
  const bytes = Buffer.alloc((await file.stat()).size)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
  const read = bytes.subarray(0, bytesRead)
  try {
    return { text: showNotebook(parseNotebook(new TextDecoder().decode(read), name)), hash: versionOf(read) }
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

async function isDirectory(place: Shown): Promise<boolean> {
  try {
    return (await atFile(place, (path) => lstat(path))).isDirectory()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    const similar = await similarNames(place)
    const hint = similar.length > 0 ? ` Did you mean ${similar.join(', ')}?` : ''
    throw new Refusal(`File not found: ${place.name}.${hint}`)
  }
}

async function listDirectory(place: Shown): Promise<string> {
  const entries = await namesIn(place)
  const shown = entries.toSorted().slice(0, ENTRIES)
  const more = entries.length - shown.length
  return [`Directory ${place.name}:`, ...shown, more > 0 ? `(${more} more)` : entries.length === 0 ? '(empty)' : '']
    .filter(Boolean)
    .join('\n')
}

/** Names of folders end with a slash. Protected names are not even listed. */
async function namesIn({ root, path, hidden }: Omit<Shown, 'name'>): Promise<string[]> {
  const entries = await inFolder({ root, path }, (folder) => readdir(folder, { withFileTypes: true }))
  return entries
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .filter((name) => !hidden(join(relative(root, path), name)))
}

async function similarNames({ root, path, hidden }: Shown): Promise<string[]> {
  const stem = (name: string): string => basename(name, extname(name)).toLowerCase()
  const wanted = stem(path)
  const names = await namesIn({ root, path: dirname(path), hidden }).catch(() => [])
  return names
    .map((name) => name.replace(/\/$/, ''))
    .filter((name) => wanted !== '' && (stem(name).includes(wanted) || wanted.includes(stem(name))))
    .slice(0, 3)
}

function encodingOf(head: Buffer): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : 'utf-8'
}

function pictureType(head: Buffer): string | undefined {
  const begins = (text: string, at = 0): boolean => head.toString('latin1', at, at + text.length) === text
  if (begins('\x89PNG\r\n')) return 'image/png'
  if (begins('\xff\xd8\xff')) return 'image/jpeg'
  if (begins('GIF8')) return 'image/gif'
  return begins('RIFF') && begins('WEBP', 8) ? 'image/webp' : undefined
}
