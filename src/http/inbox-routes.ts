/** What waits for a person, and the answers. */
import { z } from '@hono/zod-openapi'
import { addRoute, type AddRoutes } from './add-route.ts'
import * as inputs from './request-schemas.ts'
import * as outputs from './answer-schemas.ts'

const inboxQuery = z.strictObject({
  session: z.string().optional().openapi({ description: 'only this session and everything below it' }),
})

export const addInboxRoutes: AddRoutes = (app, { stello }) => {
  addRoute(
    app,
    {
      method: 'get',
      path: '/inbox',
      summary: 'Questions and pauses that wait for a person, oldest first',
      query: inboxQuery,
      gives: [{ status: 200, description: 'what waits', schema: outputs.inbox }],
    },
    ({ query: { session } }) => stello.inbox(session),
  )

  addRoute(
    app,
    {
      method: 'post',
      path: '/sessions/{id}/answers/{itemId}',
      summary: 'Answer what waits; if another answer was faster, that one counts',
      params: inputs.itemPath,
      body: inputs.answerBody,
      gives: [{ status: 204, description: 'the answer is durable' }],
    },
    ({ params: { id, itemId }, body }) => stello.session(id).answer(itemId, body),
  )
}
