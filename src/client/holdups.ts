/** What a person can do about something that holds a session up. Must import nothing heavy: the command line uses it too. */
import { StelloError } from '../core/errors.ts'
import { decisionsOf } from '../protocol/pending.ts'
import type { InboxItem } from '../store/watching/inbox.ts'

/** Identifies an item. A second pause of the same session is another item. */
export function keyOf(item: InboxItem): string {
  return `${item.sessionId} ${item.kind === 'paused' ? item.at : item.id}`
}

/** The command that lets the session go on. */
export function remedyOf(item: InboxItem): string {
  if (item.kind === 'paused') return `stello resume ${item.sessionId}`
  return `stello answer ${item.sessionId} ${item.id} ${decisionsOf(item.kind).join('|')}`
}

/** @param sessionId the session that cannot go on: the item's own, or one above it */
export function heldUp(sessionId: string, item: InboxItem): StelloError {
  const who =
    item.sessionId === sessionId
      ? `session ${sessionId}`
      : `session ${sessionId} waits for session ${item.sessionId}, which`
  if (item.kind !== 'paused') {
    return new StelloError('SESSION_PAUSED', `${who} waits for a person: ${item.message}`, {
      hint: `\`${remedyOf(item)}\` answers`,
    })
  }
  return new StelloError('SESSION_PAUSED', `${who} is paused (${item.reason}): ${item.message}`, {
    hint: `${item.nextTryAt === undefined ? '' : `it tries again by itself at ${item.nextTryAt}; `}${item.hint ? `${item.hint}; ` : ''}\`${remedyOf(item)}\` goes on with the same turn`,
  })
}
