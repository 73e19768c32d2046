/**
 * Which version of a file the session has seen: a value of the session for each file, which is stored together with the
 * result of the call that has read or written it. So this knowledge survives crashes and compactions, a rewind takes it
 * back, and a fork has to look for itself. Contents are compared, never times: a file that was restored is the same.
 */
import { createHash } from 'node:crypto'
import type { ToolContext } from '../../tool/tool.ts'
import type { Place } from './locate.ts'
import { Refusal } from './refusal.ts'

const DIGITS = 12

export function versionOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, DIGITS)
}

/** The last line of a result. */
export function versionLine(name: string, facts: string, version: string): string {
  return `[${name}: ${facts}, version ${version.slice(0, DIGITS)}]`
}

/** The last line for a text that the model has written, or for a part of it. */
export function textLine(name: string, text: string, version: string): string {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) lines++
  return versionLine(name, `${lines} lines`, version)
}

/** The version that the session has read or written last. */
export async function seenVersion(place: Place, { values }: ToolContext): Promise<string | undefined> {
  const seen = await values.get(nameOf(place))
  return typeof seen === 'string' ? seen : undefined
}

/** @throws Refusal unless the session has read or written this very version */
export async function demandSeen(place: Place, version: string, ctx: ToolContext): Promise<void> {
  const seen = await seenVersion(place, ctx)
  if (seen === version) return
  throw new Refusal(
    seen === undefined
      ? 'File has not been read yet. Read it first.'
      : 'File has been modified since read, either by the user or by another program. Read it again.',
  )
}

/** Calls that read one file side by side may each set its value, since they have read the same. */
export function remember(place: Place, version: string, { values }: ToolContext): void {
  values.set(nameOf(place), version.slice(0, DIGITS))
}

/** The same path in another folder is another file: reads in a folder that is lost do not count. */
function nameOf({ path }: Place): string {
  return `file ${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
}
