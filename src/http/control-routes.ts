/** What a person does to a session or a whole tree: pause, resume, cancel, close, compact, recover. */
import { addRoute, type AddRoutes } from './add-route.ts'
import * as inputs from './request-schemas.ts'
import * as outputs from './answer-schemas.ts'

const reached = { status: 200, description: 'how many sessions were told', schema: outputs.reached } as const
const done = { status: 200, description: 'the session was told', schema: outputs.done } as const

export const addControlRoutes: AddRoutes = (app, { stello }) => {
  const params = inputs.sessionPath
  const post = { method: 'post', params, bodyOptional: true } as const

  addRoute(
    app,
    {
      ...post,
      path: '/sessions/{id}/pause',
      summary: 'Nothing new begins until a resume',
      body: inputs.pauseBody,
      gives: [reached],
    },
    ({ params: { id }, body }) => stello.session(id).pause(body),
  )
  addRoute(
    app,
    {
      ...post,
      path: '/sessions/{id}/resume',
      summary: 'Go on with the step that was due',
      body: inputs.treeBody,
      gives: [reached],
    },
    ({ params: { id }, body }) => stello.session(id).resume(body),
  )
  addRoute(
    app,
    {
      ...post,
      path: '/sessions/{id}/cancel',
      summary: 'Stop the turn that runs',
      body: inputs.treeBody,
      gives: [reached],
    },
    ({ params: { id }, body }) => stello.session(id).cancelTurn(body),
  )
  addRoute(
    app,
    {
      ...post,
      path: '/sessions/{id}/close',
      summary: 'End the session, with `cascade` its forks too',
      body: inputs.closeBody,
      gives: [done],
    },
    async ({ params: { id }, body }) => {
      await stello.session(id).close(body)
      return {}
    },
  )
  addRoute(
    app,
    {
      ...post,
      path: '/sessions/{id}/compact',
      summary: 'Have older messages summarised for the model',
      body: inputs.noBody,
      gives: [done],
    },
    async ({ params: { id } }) => {
      await stello.session(id).compact()
      return {}
    },
  )
  addRoute(
    app,
    {
      ...post,
      path: '/sessions/{id}/recover',
      summary: 'Start the workflow again that somebody has terminated',
      body: inputs.recoverBody,
      gives: [{ status: 200, description: 'what was done', schema: outputs.recovered }],
    },
    ({ params: { id }, body }) => stello.session(id).recover(body),
  )
}
