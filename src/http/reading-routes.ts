/** What people read: the trees there are, and conversations page by page. */
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
}
