/** The HTTP face of a client: every route, behind the guard. Opens no port: `serve-http.ts` does. */
import { OpenAPIHono, type z } from '@hono/zod-openapi'
import type { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { StelloError } from '../core/errors.ts'
import type { StelloClient } from '../client/index.ts'
import { addAboutRoutes } from './about-routes.ts'
import type { AddRoutes, HttpApp, RouteContext } from './add-route.ts'
import { addControlRoutes } from './control-routes.ts'
import { addEventRoutes } from './event-routes.ts'
import { demandHost, demandJson, demandToken, refuseOtherPages, safeHeaders } from './guard.ts'
import { httpError, toHttpError } from './http-error.ts'
import { addInboxRoutes } from './inbox-routes.ts'
import { packageVersion } from './package-version.ts'
import { addPermissionRoutes } from './permission-routes.ts'
import { addReadingRoutes } from './reading-routes.ts'
import { addSessionRoutes } from './session-routes.ts'
import { PAGE_FOLDER, servePage } from './static-page.ts'
import { addTurnRoutes } from './turn-routes.ts'

/** What an app serves, and to whom. */
export interface HttpAppOptions {
  /** A connected client. The app does not close it. */
  stello: StelloClient
  /** What `Authorization: Bearer …` must carry. Unset: everybody who reaches the app may use it. */
  token?: string | undefined
  /** Names by which the app may be asked, beside `127.0.0.1`, `localhost` and `[::1]`; without a port, any port will do. */
  hosts?: readonly string[]
  /** The folder of the built page. Default: the one of this package. */
  page?: string
  /** Ends the streams and the waits of all requests. */
  signal?: AbortSignal
  /** How often a stream without events sends a comment, milliseconds. Default 15,000. */
  keepAliveMs?: number
  /** Is told of errors that nobody expected. Default: `console.error`. */
  onError?: (error: unknown) => void
}

/** One text as long as the client takes, with every character escaped, and room for the rest of the body. */
export const BODY_LIMIT: number = 8 * 1024 * 1024
const KEEP_ALIVE_MS = 15_000
/** The parts of a request, as a person calls them. */
const PLACES: Readonly<Record<string, string>> = { json: 'the body', query: 'the query', param: 'the path' }

const GROUPS: readonly AddRoutes[] = [
  addAboutRoutes,
  addReadingRoutes,
  addSessionRoutes,
  addEventRoutes,
  addTurnRoutes,
  addControlRoutes,
  addInboxRoutes,
  addPermissionRoutes,
]

/**
 * The routes below `/api`, and the page at `/`, as an app that any server for Hono can serve.
 *
 * The app alone cannot know who reaches it: give a token where others than the users of this machine do.
 *
 * @throws StelloError INVALID_ARGUMENT when the token is empty, or cannot stand in a header
 * @example
 * const app = createHttpApp({ stello: await connectStello(), token: process.env['MY_TOKEN'] })
 * await app.request('/api/agents', { headers: { host: 'localhost', authorization: `Bearer ${process.env['MY_TOKEN']}` } })
 */
export function createHttpApp(options: HttpAppOptions): Hono {
  const { stello, token, hosts, page = PAGE_FOLDER, signal, keepAliveMs = KEEP_ALIVE_MS } = options
  const report = options.onError ?? console.error
  checkToken(token)
  const app: HttpApp = new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw toInvalidRequest(result.target, result.error)
    },
  })
  app.onError((error, c) => {
    const { status, body } = toHttpError(error instanceof HTTPException ? toBadBody(error) : error)
    if (status === 500) report(error)
    return c.json(body, status)
  })
  app.notFound((c) => {
    const { status, body } = httpError('NOT_FOUND', `there is no ${c.req.method} ${c.req.path}`)
    return c.json(body, status)
  })
  app.use(safeHeaders(), demandHost({ hosts }))
  const tooLarge = httpError('TOO_LARGE', `the body has more than ${BODY_LIMIT} bytes`)
  app.use(
    '/api/*',
    refuseOtherPages(),
    demandToken({ token }),
    demandJson(),
    bodyLimit({ maxSize: BODY_LIMIT, onError: (c) => c.json(tooLarge.body, tooLarge.status) }),
  )
  const context: RouteContext = { stello, stopping: signal ?? new AbortController().signal, keepAliveMs, report }
  for (const addRoutes of GROUPS) addRoutes(app, context)
  app.doc31('/api/openapi.json', {
    openapi: '3.1.0',
    info: { title: 'stello-temporal', version: packageVersion(), description: 'Durable agent sessions over HTTP' },
  })
  servePage(app, page)
  return app
}

/** @throws StelloError INVALID_ARGUMENT */
function checkToken(token: string | undefined): void {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return
  throw new StelloError('INVALID_ARGUMENT', 'the token is empty, or has spaces or letters that no header carries', {
    hint: 'use letters and digits, for example of `openssl rand -hex 16`',
  })
}

/**
 * What is wrong with the input of a request, in one sentence that names the field.
 *
 * @param target the part of the request that was checked, as Hono names it
 */
function toInvalidRequest(target: string, { issues }: z.ZodError): StelloError {
  const place = PLACES[target] ?? target
  const told = issues.slice(0, 3).map((issue) => {
    if (issue.code === 'unrecognized_keys') return `"${issue.keys.slice(0, 3).join('", "')}" is no field of it`
    const message = issue.message.replace(/^Invalid input: /, '')
    return issue.path.length === 0 ? message : `${issue.path.join('.')}: ${message}`
  })
  return new StelloError('INVALID_ARGUMENT', `${place}: ${told.join('; ')}`, {
    hint: '/api/openapi.json says what each route takes',
  })
}

/** What Hono itself refuses: a body that is no JSON. */
function toBadBody({ message }: Error): StelloError {
  return new StelloError('INVALID_ARGUMENT', `the body: ${message}`)
}
