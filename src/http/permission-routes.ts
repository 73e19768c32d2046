/** The rules that people have added with answers. */
import { addRoute, type AddRoutes } from './add-route.ts'
import * as inputs from './request-schemas.ts'
import * as outputs from './answer-schemas.ts'

export const addPermissionRoutes: AddRoutes = (app, { stello }) => {
  addRoute(
    app,
    {
      method: 'get',
      path: '/permissions',
      summary: 'The rules that people have added with answers, oldest first',
      gives: [{ status: 200, description: 'the rules', schema: outputs.keptRules }],
    },
    () => stello.permissions(),
  )

  addRoute(
    app,
    {
      method: 'delete',
      path: '/permissions',
      summary: 'Remove such a rule',
      body: inputs.ruleBody,
      gives: [{ status: 204, description: 'it is removed' }],
    },
    ({ body }) => stello.removePermission(body),
  )
}
