/** Sessions: new ones, what they are and do, their trees and forks. */
import type { SessionSummary } from '../client/index.ts'
import { addRoute, type AddRoutes } from './add-route.ts'
import * as inputs from './request-schemas.ts'
import * as outputs from './answer-schemas.ts'

/** A session with a link to its workflow. */
export interface SessionDetail extends SessionSummary {
  /** Its page in the Temporal UI, where the address of that is known. */
  temporalLink?: string
}

export const addSessionRoutes: AddRoutes = (app, { stello }) => {
  addRoute(
    app,
    {
      method: 'post',
      path: '/sessions',
      summary: 'Create a session, and send its first message',
      body: inputs.createSessionBody,
      gives: [{ status: 201, description: 'its id, and that of the message', schema: outputs.created }],
    },
    async ({ body: { message, ...options } }): Promise<{ id: string; messageId?: string }> => {
      const session = await stello.createSession(options)
      if (message === undefined) return { id: session.id }
      const { messageId } = await session.send(message)
      return { id: session.id, messageId }
    },
  )

  addRoute(
    app,
    {
      method: 'get',
      path: '/sessions/{id}',
      summary: 'What a session is and does now',
      params: inputs.sessionPath,
      gives: [{ status: 200, description: 'the session', schema: outputs.sessionDetail }],
    },
    async ({ params: { id } }): Promise<SessionDetail> => {
      const temporalLink = stello.uiLink(id)
      return { ...(await stello.session(id).state()), ...(temporalLink !== undefined && { temporalLink }) }
    },
  )

  addRoute(
    app,
    {
      method: 'get',
      path: '/sessions/{id}/tree',
      summary: 'A session and everything below it',
      params: inputs.sessionPath,
      gives: [{ status: 200, description: 'the session, with its forks in it', schema: outputs.sessionTree }],
    },
    ({ params: { id } }) => stello.session(id).tree(),
  )

  addRoute(
    app,
    {
      method: 'get',
      path: '/sessions/{id}/stats',
      summary: 'What a session has used, and how its tools did; a worker must serve it',
      params: inputs.sessionPath,
      gives: [{ status: 200, description: 'turns, calls, tokens, tools', schema: outputs.stats }],
    },
    ({ params: { id } }) => stello.session(id).stats(),
  )

  addRoute(
    app,
    {
      method: 'post',
      path: '/sessions/{id}/forks',
      summary: 'Create a child session',
      params: inputs.sessionPath,
      body: inputs.forkBody,
      gives: [{ status: 201, description: 'the id of the child', schema: outputs.created }],
    },
    async ({ params: { id }, body }): Promise<{ id: string }> => ({ id: (await stello.session(id).fork(body)).id }),
  )
}
