/**
 * Which version of a file the model has seen. The transcript tells: each result about a file ends with a line that
 * names the version. So this knowledge survives, is inherited and is forgotten together with the transcript, and needs
 * no store.
 */
import { createHash } from 'node:crypto'
import type { ToolContext } from '../../tool/tool.ts'
import type { Place } from './locate.ts'
import { Refusal } from './refusal.ts'

const TOOLS: readonly unknown[] = ['Read', 'Write', 'Edit']
const DIGITS = 12

/**
 * Calls that run side by side do not see each other's results, so this process remembers what it wrote for a session.
 */
const written = new Map<string, string>()
const WRITTEN_LIMIT = 1000

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

/** @throws Refusal unless the session has read or written this very version */
export function demandSeen(place: Place, version: string, ctx: ToolContext): void {
  const seen = lastSeen(place.name, ctx)
  if (seen === version || written.get(keyOf(place, ctx)) === version) return
  throw new Refusal(
    seen === undefined
      ? 'File has not been read yet. Read it first.'
      : 'File has been modified since read, either by the user or by another program. Read it again.',
  )
}

export function remember(place: Place, version: string, ctx: ToolContext): void {
  const key = keyOf(place, ctx)
  written.delete(key)
  written.set(key, version)
  const oldest = written.size > WRITTEN_LIMIT ? written.keys().next().value : undefined
  if (oldest !== undefined) written.delete(oldest)
}

function keyOf({ path }: Place, { sessionId }: ToolContext): string {
  return `${sessionId}\n${path}`
}

function lastSeen(name: string, { contextSnapshot }: ToolContext): string | undefined {
  const line = (contextSnapshot?.messages ?? [])
    .filter((message) => message.role === 'tool' && TOOLS.includes(message.name))
    .map(({ content }) => content.slice(content.lastIndexOf('\n') + 1))
    .findLast((last) => last.startsWith(`[${name}: `))
  return line === undefined ? undefined : /, version ([0-9a-f]+)\]$/.exec(line)?.[1]
}
