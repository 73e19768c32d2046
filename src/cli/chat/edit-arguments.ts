/** The arguments of a call that waits for permission, for a person who changes them. */
import type { InboxItem, StelloClient } from '../../client/index.ts'

/** The whole arguments, which an item shows only the beginning of. */
export async function argumentsOf(stello: StelloClient, item: InboxItem): Promise<string> {
  if (item.kind === 'paused') return '{}'
  const messages = await stello.session(item.sessionId).transcript()
  const call = messages.flatMap(({ toolCalls = [] }) => toolCalls).findLast(({ id }) => id === item.callId)
  const text = call?.arguments ?? item.preview
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
