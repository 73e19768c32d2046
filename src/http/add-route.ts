/**
 * The one way of adding a route: its input is checked by schemas before it runs, its answer is JSON, and the OpenAPI
 * document describes both.
 */
import { createRoute, z, type OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { BlankEnv } from 'hono/types'
import type { StelloClient } from '../client/index.ts'

/** What the routes have. */
export interface RouteContext {
  stello: StelloClient
  /** Ends what waits and streams: the server stops. */
  stopping: AbortSignal
  /** How often a stream without events shows that it is alive, milliseconds. */
  keepAliveMs: number
  /** Is told of errors that nobody expected. */
  report(error: unknown): void
}

export type HttpApp = OpenAPIHono<BlankEnv>
/** Adds the routes of one group. */
export type AddRoutes = (app: HttpApp, context: RouteContext) => void

/** What a route takes and gives. */
export interface Route<Params, Query, Body> {
  method: 'get' | 'post' | 'delete'
  /** Below `/api`, with its parameters in braces. */
  path: string
  /** One line. */
  summary: string
  params?: z.ZodType<Params>
  query?: z.ZodType<Query>
  body?: z.ZodType<Body>
  /** A request without a body counts as one with `{}`. */
  bodyOptional?: true
  /** The answers that are no errors; the first is the usual one. */
  gives: readonly Answer[]
}

export interface Answer {
  status: 200 | 201 | 202 | 204
  description: string
  /** Unset: there is no body. */
  schema?: z.ZodType
  /** Default JSON. */
  type?: string
}

export interface Asked<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  c: Context
}

const errorBody: z.ZodType = z
  .strictObject({
    error: z.strictObject({
      code: z.string().openapi({ description: 'what kind of error it is, for programs' }),
      message: z.string().openapi({ description: 'what was wrong, and where' }),
      hint: z.string().optional().openapi({ description: 'what to do about it' }),
    }),
  })
  .openapi('Error')

/**
 * @param answer gives the body of the first answer of `gives`, or a response of its own
 * @example
 * addRoute(app, { method: 'get', path: '/agents', summary: 'Agents', gives: [{ status: 200, description: 'their names' }] }, () => stello.agents())
 */
export function addRoute<Params = unknown, Query = unknown, Body = unknown>(
  app: HttpApp,
  { method, path, summary, params, query, body, bodyOptional, gives }: Route<Params, Query, Body>,
  answer: (asked: Asked<Params, Query, Body>) => Promise<unknown>,
): void {
  const route = createRoute({
    method,
    path: `/api${path}`,
    summary,
    operationId: operationId(method, path),
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(body && { body: { content: { 'application/json': { schema: body } }, required: bodyOptional !== true } }),
    },
    responses: {
      ...responses(gives),
      default: { description: 'an error', content: { 'application/json': { schema: errorBody } } },
    },
  } as unknown as RouteConfig)
  const handler = async (c: Context): Promise<Response> => {
    const valid = c.req.valid.bind(c.req) as (target: string) => unknown
    const asked = {
      params: params && valid('param'),
      query: query && valid('query'),
      body: body && valid('json'),
      c,
    } as Asked<Params, Query, Body>
    const given = await answer(asked)
    if (given instanceof Response) return given
    const [{ status } = { status: 200 as const }] = gives
    return status === 204 ? c.body(null, 204) : c.json(given, status)
  }
  app.openapi(route, handler as never)
}

function responses(gives: readonly Answer[]): RouteConfig['responses'] {
  const all: RouteConfig['responses'] = {}
  for (const { status, description, schema, type = 'application/json' } of gives) {
    const known = all[status] as { content?: object } | undefined
    const content = schema && { content: { ...known?.content, [type]: { schema } } }
    all[status] = { description, ...content } as RouteConfig['responses'][string]
  }
  return all
}

/** @example operationId('post', '/sessions/{id}/forks') // 'post_sessions_id_forks' */
function operationId(method: string, path: string): string {
  return `${method}${path.replace(/[{}]/g, '').replace(/[^a-zA-Z0-9]+/g, '_')}`
}
