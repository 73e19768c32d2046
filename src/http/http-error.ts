/** What an error is over HTTP: a status and a body. Never shows what is inside an error that nobody expected. */
import { messageOf, toStelloError, type ErrorCode } from '../core/errors.ts'

/** Codes that only HTTP has. `UNAUTHORIZED`: no token, or a wrong one. `FORBIDDEN`: the request comes from elsewhere. */
export type HttpOnlyCode = 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_LARGE' | 'NOT_JSON' | 'INTERNAL'

/** The body of every answer that is an error. */
export interface HttpErrorBody {
  /** What is wrong. */
  error: {
    /** What kind of error it is, for programs. */
    code: ErrorCode | HttpOnlyCode
    /** What was wrong, and where. */
    message: string
    /** What to do about it. */
    hint?: string
  }
}

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 500 | 503

/** A code that is not here is a fault inside: 500. */
const STATUS: Readonly<Partial<Record<ErrorCode, ErrorStatus>>> = {
  INVALID_ARGUMENT: 400,
  INVALID_MESSAGE: 400,
  SESSION_NOT_FOUND: 404,
  SESSION_EXISTS: 409,
  SESSION_CLOSED: 409,
  SESSION_PAUSED: 409,
  SESSION_BUSY: 409,
  SESSION_TERMINATED: 409,
  SESSION_ELSEWHERE: 409,
  TREE_LIMIT: 409,
  AGENT_NOT_SERVED: 503,
  STORE_UNAVAILABLE: 503,
  SERVER_UNREACHABLE: 503,
  DATABASE_UNREACHABLE: 503,
}

const ONLY_HTTP: Readonly<Record<HttpOnlyCode, ErrorStatus>> = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  TOO_LARGE: 413,
  NOT_JSON: 415,
  INTERNAL: 500,
}

/** The status of every code that has one of its own. */
export const STATUS_OF: Readonly<Record<string, ErrorStatus>> = { ...STATUS, ...ONLY_HTTP }

/** An answer that is an error. */
export interface HttpError {
  status: ErrorStatus
  body: HttpErrorBody
}

export function httpError(code: HttpOnlyCode, message: string, hint?: string): HttpError {
  return { status: ONLY_HTTP[code], body: { error: { code, message, ...(hint !== undefined && { hint }) } } }
}

/** @param error anything that was thrown */
export function toHttpError(error: unknown): HttpError {
  const known = toStelloError(error)
  if (!known) return httpError('INTERNAL', 'the server failed', 'its log says why')
  const { code, hint } = known
  const body = { error: { code, message: messageOf(known), ...(hint !== undefined && { hint }) } }
  return { status: STATUS[code] ?? 500, body }
}
