/** Messages, and the turns that answer them. */
import type { InboxItem, SessionStatus, TurnHandle, TurnResult } from '../client/index.ts'
import { z } from '@hono/zod-openapi'
import { addRoute, type AddRoutes } from './add-route.ts'
import * as inputs from './request-schemas.ts'
import * as outputs from './answer-schemas.ts'

/** A turn that is not over yet. */
export interface TurnUnderWay {
  /** What its session is doing. */
  state: SessionStatus
  /** What it waits for in the sessions below. */
  heldBy: InboxItem[]
}

/** Longest wait for an answer, seconds: a proxy between may end a longer one. */
const LONGEST_WAIT = 60

const turnQuery = z.strictObject({
  wait: inputs.wholeNumber(0, LONGEST_WAIT, 0).openapi({ description: 'seconds to wait for the answer' }),
})

export const addTurnRoutes: AddRoutes = (app, { stello, stopping }) => {
  addRoute(
    app,
    {
      method: 'post',
      path: '/sessions/{id}/messages',
      summary: 'Send a message; it is durable when this answers',
      params: inputs.sessionPath,
      body: inputs.messageBody,
      gives: [{ status: 202, description: 'the id of the message', schema: outputs.taken }],
    },
    async ({ params: { id }, body: { text, ...options } }): Promise<{ messageId: string }> => {
      const { messageId } = await stello.session(id).send(text, options)
      return { messageId }
    },
  )

  addRoute(
    app,
    {
      method: 'get',
      path: '/sessions/{id}/turns/{messageId}',
      summary: 'The answer to a message',
      params: inputs.turnPath,
      query: turnQuery,
      gives: [
        { status: 200, description: 'the turn is over', schema: outputs.turnResult },
        { status: 202, description: 'it is not over yet', schema: outputs.turnUnderWay },
      ],
    },
    async ({ params: { id, messageId }, query: { wait }, c }) => {
      const session = stello.session(id)
      const result = await resultWithin(session.turn(messageId), wait, AbortSignal.any([stopping, c.req.raw.signal]))
      if (result) return result
      const { state, heldBy } = await session.state()
      return c.json({ state, heldBy }, 202)
    },
  )
}

/** Looks at least once, also when there is no time to wait. */
async function resultWithin(turn: TurnHandle, seconds: number, ended: AbortSignal): Promise<TurnResult | undefined> {
  const waiting = new AbortController()
  const end = (): void => waiting.abort()
  const result = turn.result({ signal: waiting.signal })
  const timer = setTimeout(end, seconds * 1000)
  ended.addEventListener('abort', end, { once: true })
  try {
    return await result
  } catch (error) {
    if (!waiting.signal.aborted || error !== waiting.signal.reason) throw error
    return undefined
  } finally {
    clearTimeout(timer)
    ended.removeEventListener('abort', end)
  }
}
