/** A wait that an MCP client may repeat: it ends with the answer, with the items that hold the turn up, or when its time is over. */
import type { InboxItem, SessionHandle, StelloClient } from '../../client/index.ts'
import { eventLine } from '../output/format.ts'
import { plainLines } from '../output/plain-lines.ts'

/** Seconds. Many clients give up a call after a minute. */
export const USUAL_WAIT_S = 45
export const LONGEST_WAIT_S = 600
/** A client that hears nothing for long may give the call up. */
const SAY_EVERY_MS = 10_000

interface Waited {
  sessionId: string
  messageId: string
  seconds?: number | undefined
}

/** The facts about its client that a call of a tool has. */
interface Calling {
  signal: AbortSignal
  _meta?: { progressToken?: string | number | undefined } | undefined
  sendNotification(notification: {
    method: 'notifications/progress'
    params: { progressToken: string | number; progress: number; message: string }
  }): Promise<void>
}

export async function waitForTurn(
  stello: StelloClient,
  { sessionId, messageId, seconds = USUAL_WAIT_S }: Waited,
  calling: Calling,
): Promise<Record<string, unknown>> {
  const session = stello.session(sessionId)
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), seconds * 1000)
  const signal = AbortSignal.any([over.signal, calling.signal])
  const telling = tell(session, calling, signal)
  const waits: InboxItem[] = []
  const onPause = (item: InboxItem): void => {
    waits.push(item)
    over.abort()
  }
  try {
    const result = await session.turn(messageId).result({ onPause, signal })
    return { status: 'answered', sessionId, messageId, text: result.text, stopReason: result.stopReason }
  } catch (error) {
    if (error !== over.signal.reason) throw error
    if (waits.length > 0) return { status: 'held', sessionId, messageId, waits }
    const { inHand, state } = await session.state()
    return { status: 'running', sessionId, messageId, state, now: inHand.map(({ title, name }) => title ?? name) }
  } finally {
    clearTimeout(timer)
    over.abort()
    await telling
  }
}

/** Tells the client what happens in the tree, if it wants to know. Never throws: the wait goes on without. */
async function tell(session: SessionHandle, calling: Calling, signal: AbortSignal): Promise<void> {
  const progressToken = calling._meta?.progressToken
  if (progressToken === undefined) return
  let progress = 0
  let last = 'the session goes on'
  const say = (message: string): void => {
    last = message
    progress++
    const params = { progressToken, progress, message }
    calling.sendNotification({ method: 'notifications/progress', params }).catch(() => undefined)
  }
  const again = setInterval(() => say(last), SAY_EVERY_MS)
  try {
    for await (const event of session.watch({ tree: true, from: 'now', signal })) {
      const line = plainLines(event, (shown) => [eventLine(shown) ?? ''])
      if (line !== '') say(line)
    }
  } catch {
    // The wait itself tells what is wrong.
  } finally {
    clearInterval(again)
  }
}
