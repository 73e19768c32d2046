/** Places in the logs of a session and those below it: the first offset of each that was not read yet, as text. */
import { StelloError } from '../core/errors.ts'
import { nextOffsets } from '../store/watching/event-log.ts'
import { readSubtree } from '../store/sessions/tree.ts'
import type { ClientDeps } from './client-deps.ts'

/**
 * @param from an offset of the session, a cursor, or `'now'`, which is the end of the log of each session
 * @throws StelloError INVALID_ARGUMENT when it is none of them
 */
export async function startOffsets(
  { db }: Pick<ClientDeps, 'db'>,
  sessionId: string,
  { from, tree }: { from: number | string; tree: boolean },
): Promise<Map<string, number>> {
  if (typeof from === 'number') return new Map([[sessionId, from]])
  if (from !== 'now') return new Map(readCursor(sessionId, from))
  return nextOffsets(db, tree ? await readSubtree(db, sessionId) : [sessionId])
}

export function toCursor(offsets: ReadonlyMap<string, number>): string {
  return JSON.stringify(Object.fromEntries(offsets))
}

/** The cursor of an event, or an offset that came as text. */
function readCursor(sessionId: string, from: string): [string, number][] {
  const parsed: unknown = parse(from)
  const offsets = typeof parsed === 'number' ? { [sessionId]: parsed } : parsed
  if (typeof offsets === 'object' && offsets !== null && !Array.isArray(offsets)) {
    const entries = Object.entries(offsets)
    if (entries.every((entry): entry is [string, number] => isOffset(entry[1]))) return entries
  }
  throw new StelloError('INVALID_ARGUMENT', `watch: "${from}" is no cursor`, {
    hint: 'use an offset, or the cursor of an event',
  })
}

/** What fits into the column of offsets. */
function isOffset(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
