/** What people read: the trees there are, conversations page by page, and what is found in them. */
import { addRoute, type AddRoutes } from './add-route.ts'
import * as inputs from './request-schemas.ts'
import * as outputs from './answer-schemas.ts'

export const addReadingRoutes: AddRoutes = (app, { stello }) => {
  addRoute(
    app,
    {
      method: 'get',
      path: '/roots',
      summary: 'Roots of trees, newest first, each with the totals of its tree',
      query: inputs.rootsQuery,
      gives: [{ status: 200, description: 'a page of roots', schema: outputs.roots }],
    },
    ({ query: { before, ...filter } }) =>
      stello.roots({ ...filter, ...(before !== undefined && { before: new Date(before) }) }),
  )

  addRoute(
    app,
    {
      method: 'get',
      path: '/sessions/{id}/records',
      summary: 'The conversation, inherited part first',
      params: inputs.sessionPath,
      query: inputs.recordsQuery,
      gives: [{ status: 200, description: 'a page of records', schema: outputs.recordPage }],
    },
    ({ params: { id }, query }) => stello.session(id).records(query),
  )

  addRoute(
    app,
    {
      method: 'get',
      path: '/sessions/{id}/timeline',
      summary: 'Who ran what when in a session and all below it, each attempt for itself',
      params: inputs.sessionPath,
      gives: [{ status: 200, description: 'the newest spans, in order of their begin', schema: outputs.timeline }],
    },
    ({ params: { id } }) => stello.session(id).timeline(),
  )

  addRoute(
    app,
    {
      method: 'get',
      path: '/search',
      summary: 'Find words in conversations, newest first',
      query: inputs.searchQuery,
      gives: [{ status: 200, description: 'the records that have them', schema: outputs.searchHits }],
    },
    ({ query: { q, session, limit } }) =>
      stello.search(q, { ...(session !== undefined && { sessionId: session }), ...(limit !== undefined && { limit }) }),
  )
}
