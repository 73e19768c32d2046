/**
 * Who may ask: the rules that keep web pages of other origins, and people without the token, away from the sessions. No
 * route is reached before all of them hold.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { httpError, type HttpError } from './http-error.ts'

/** The names of this machine for itself. */
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

/** Nothing is loaded from elsewhere, no script stands in the page, and nobody may frame it. */
const CONTENT_SECURITY_POLICY: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Also on errors and on files. */
export function safeHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value)
    if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store')
  }
}

/** Whose requests are taken. */
export interface Trusted {
  /** Unset: nobody needs one. */
  token?: string | undefined
  /** Names of this server beside those of the machine for itself, with a port or without. */
  hosts?: readonly string[] | undefined
}

/** A name that somebody points at this machine (DNS rebinding) is not known. */
export function demandHost({ hosts = [] }: Trusted): MiddlewareHandler {
  const known = [...LOOPBACK, ...hosts].map((host) => host.toLowerCase())
  return async (c, next) => {
    const host = c.req.header('host')?.toLowerCase() ?? ''
    if (!known.includes(host) && !known.includes(host.replace(/:\d+$/, '')))
      return refuse(
        httpError('FORBIDDEN', `this server is not called "${host}"`, 'ask it by an address that it prints'),
      )
    return next()
  }
}

/** The browser says which page asks. To link to the page of this server is no harm, so that is not refused. */
export function refuseOtherPages(): MiddlewareHandler {
  return async (c, next) => {
    const origin = c.req.header('origin')
    const site = c.req.header('sec-fetch-site') ?? 'none'
    if (
      (origin !== undefined && hostOf(origin) !== c.req.header('host')?.toLowerCase()) ||
      (site !== 'none' && site !== 'same-origin')
    )
      return refuse(httpError('FORBIDDEN', 'pages of other origins may not use this server'))
    return next()
  }
}

/** The header is no cookie: a browser never sends it by itself. */
export function demandToken({ token }: Trusted): MiddlewareHandler {
  return async (c, next) => {
    if (token === undefined) return next()
    const [, given] = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '') ?? []
    if (given !== undefined && isSame(given, token)) return next()
    const what = given === undefined ? 'this server wants a token' : 'the token is wrong'
    const refused = refuse(httpError('UNAUTHORIZED', what, 'send it as `Authorization: Bearer TOKEN`'))
    refused.headers.set('www-authenticate', 'Bearer')
    return refused
  }
}

/** What a form or a plain text of another page could send is no JSON. */
export function demandJson(): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    const empty = c.req.header('transfer-encoding') === undefined && Number(c.req.header('content-length') ?? 0) === 0
    const type = c.req.header('content-type')
    if (type === undefined ? empty : /^application\/json\s*(;|$)/i.test(type)) return next()
    return refuse(httpError('NOT_JSON', 'the body must be JSON', 'send `content-type: application/json`'))
  }
}

/** Of hashes, so that neither the length nor the beginning of the token can be measured. */
function isSame(given: string, token: string): boolean {
  const [a, b] = [given, token].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer]
  return timingSafeEqual(a, b)
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

function refuse({ status, body }: HttpError): Response {
  return Response.json(body, { status })
}
