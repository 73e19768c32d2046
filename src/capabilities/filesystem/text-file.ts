/**
 * A text file as an edit sees it: with line feeds and without a byte order mark. The original line ends and mark are
 * put back.
 */
import type { Place } from './locate.ts'
import { withFile } from './open-file.ts'
import { codeOf, Refusal } from './refusal.ts'
import { versionOf } from './versions.ts'

/** Largest file, in bytes. */
export const SIZE_LIMIT: number = 10 * 1024 * 1024

export interface TextFile {
  text: string
  version: string
  form: Form
}

export interface Form {
  bom: boolean
  /** All lines end with CR LF. If only some do, they are left as they are. */
  crlf: boolean
}

/** @returns `undefined` when there is no file @throws Refusal when the file could not be written back unchanged */
export async function readText(place: Place): Promise<TextFile | undefined> {
  const bytes = await readBytes(place)
  if (!bytes) return undefined
  const bom = bytes.subarray(0, 3).equals(Buffer.from('\uFEFF'))
  const text = decode(bytes, place.name)
  const crlf = text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text)
  return { text: crlf ? text.replaceAll('\r\n', '\n') : text, version: versionOf(bytes), form: { bom, crlf } }
}

export async function readBytes(place: Place): Promise<Buffer | undefined> {
  try {
    return await withFile(place, async (file, size) => {
      if (size > SIZE_LIMIT) throw new Refusal(`${place.name} is larger than 10 MiB.`)
      return file.readFile()
    })
  } catch (error) {
    // Other errors must not look like a missing file.
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

export function toBytes(text: string, { bom, crlf }: Form): Buffer {
  return Buffer.from((bom ? '\uFEFF' : '') + (crlf ? text.replaceAll('\n', '\r\n') : text))
}

function decode(bytes: Buffer, name: string): string {
  const refusal = new Refusal(`${name} is no UTF-8 text, so it cannot be edited; reading it again will not help.`)
  if (bytes.includes(0)) throw refusal
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refusal
  }
}
