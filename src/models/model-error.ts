/**
 * The one place that classifies errors of a provider: the session waits and tries again, or it pauses and says why. The
 * text of the error is stored in Temporal's history and shown to people, so it must be short and must never hold a key.
 */
import { isStelloError, messageOf, reasonOf, StelloError, type AskedModel, type ErrorCode } from '../core/errors.ts'
import { preview } from '../core/message.ts'
import { withoutSecrets } from '../core/secrets.ts'
import { readProviderError, type ProviderError } from './provider-error.ts'

/** The model and the server that were asked, and with what. */
export interface Asked extends AskedModel {
  /** Secrets that were sent: the key, the values of headers. */
  secrets?: readonly string[]
  /**
   * Takes the place of a message in the request, and returns how many of our messages stand behind the one that it was
   * made of.
   */
  behind?: (index: number) => number | undefined
}

/**
 * How many messages stand behind the one at a place. A place that is counted from the end stays right when something
 * else stands before the messages.
 */
export function messagesBehind(messages: readonly unknown[], place: number | undefined): number | undefined {
  return place === undefined ? undefined : messages.length - 1 - place
}

/** The class of an abort in SDKs that give their errors no name. */
const ABORTED = /^APIUserAbortError$/
const MESSAGE_LIMIT = 300
/** Causes may be circular. */
const CAUSES_LIMIT = 10
const CONTEXT_TOO_LONG =
  /context[ _-]?(length|window|size)|maximum context|(prompt|input|request)( is)? too (long|large)|too many tokens/i
const NO_CREDIT = /insufficient_quota|insufficient (balance|credit)|credit balance|billing/i
const NO_ACCESS = /authentication_error|permission_error|invalid_api_key/i
/** How providers name the error of a wrong request when they send it inside a stream. */
const WRONG_REQUEST =
  /invalid_request|invalid_prompt|invalid_(image|base64|encrypted)|image_|unsupported_|_policy|data_residency/i
const RATE_LIMITED = /rate_?limit/i
const OVERLOADED = /overloaded/i

/**
 * @returns an error without `cause`. Temporal would write the cause into the history, and the provider's own text may
 *   quote the key
 * @throws the error itself when it is an abort: the code that aborted knows what it means
 */
export function toModelError(error: unknown, asked: Asked): StelloError {
  if (isAbort(error)) throw error
  const ours = [error, (error as { cause?: unknown } | undefined)?.cause].find(isStelloError)
  if (ours) return describe(asked, ours)
  const told = readProviderError(error)
  if (!told) {
    return describe(asked, { code: 'MODEL_UNAVAILABLE', message: `no answer from ${asked.host}: ${innermost(error)}` })
  }
  const code = codeOf(told)
  const retryAfterMs = retryAfter(told.headers)
  return describe(asked, {
    code,
    message: told.message,
    status: told.status ?? (OVERLOADED.test(`${told.type} ${told.code}`) ? 529 : undefined),
    hint: reasonOf(code).hintAt?.(asked, told.status),
    behind: told.index === undefined ? undefined : asked.behind?.(told.index),
    retryAfterMs:
      code === 'MODEL_RATE_LIMITED'
        ? (retryAfterMs ?? waitInWords(told.message))
        : code === 'MODEL_UNAVAILABLE'
          ? retryAfterMs
          : undefined,
  })
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || ABORTED.test(error.constructor.name))
}

function codeOf(error: ProviderError): ErrorCode {
  const { status, message, headers } = error
  const said = `${error.code} ${error.type} ${message}`
  // An error inside a stream has no status. Only its words say what it is.
  if (isWithoutCredit(error)) return 'MODEL_NO_CREDIT'
  if (status === 401 || status === 403) return 'MODEL_AUTH'
  if (status === undefined && NO_ACCESS.test(said)) return 'MODEL_AUTH'
  if (status === 429 || (status === undefined && RATE_LIMITED.test(said))) return 'MODEL_RATE_LIMITED'
  if (status === 413 || ((status === undefined || status < 500) && CONTEXT_TOO_LONG.test(said)))
    return 'MODEL_CONTEXT_TOO_LONG'
  const passing =
    status === undefined
      ? !WRONG_REQUEST.test(`${error.code} ${error.type}`)
      : status === 408 || status === 409 || status >= 500
  // The header's "false" forbids the quick retries of an SDK. A session waits longer, so it may still ask again.
  return passing || headers?.get('x-should-retry') === 'true' ? 'MODEL_UNAVAILABLE' : 'MODEL_REFUSED_REQUEST'
}

/** A provider that is out of credit answers 402, 429 or even 400; waiting does not help. */
function isWithoutCredit({ status, code, type, message }: ProviderError): boolean {
  if (status === 402 || code === 'insufficient_quota' || type === 'insufficient_quota') return true
  return status === 400 && NO_CREDIT.test(message)
}

type Description = Pick<StelloError, 'code' | 'message'> &
  Pick<Partial<StelloError>, 'hint' | 'retryAfterMs' | 'status' | 'behind'>

function describe(asked: Asked, { code, message, hint, retryAfterMs, status, behind }: Description): StelloError {
  const text = `model ${asked.model}: ${withoutSecrets(message, asked.secrets)}`
  return new StelloError(code, preview(text, MESSAGE_LIMIT), {
    ...(hint !== undefined && { hint: withoutSecrets(hint, asked.secrets) }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(status !== undefined && { status }),
    ...(behind !== undefined && { behind }),
  })
}

/** Milliseconds, from `retry-after-ms`, or from `retry-after` in seconds or as an HTTP date. */
function retryAfter(headers: Headers | undefined): number | undefined {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '')
  if (Number.isFinite(ms)) return Math.max(0, ms)
  const after = headers?.get('retry-after') ?? ''
  const seconds = Number(after)
  if (after !== '' && Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const date = Date.parse(after)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}

/** Some providers name the wait only in their text: "Please try again in 1.2s", "in 350ms", "in 1m2.5s". */
function waitInWords(message: string): number | undefined {
  const [, minutes, amount, unit] = /try again in (?:(\d+)m(?!s))?\s?(?:(\d+(?:\.\d+)?)\s?(ms|s))?/i.exec(message) ?? []
  if (minutes === undefined && amount === undefined) return undefined
  return Math.ceil(Number(minutes ?? 0) * 60_000 + Number(amount ?? 0) * (unit === 'ms' ? 1 : 1000))
}

/** `fetch` hides the reason: "Connection error." ← "fetch failed" ← "connect ECONNREFUSED 127.0.0.1:9". */
function innermost(error: unknown, depth = 0): string {
  if (depth === CAUSES_LIMIT) return messageOf(error)
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0], depth + 1)
  return error instanceof Error && error.cause ? innermost(error.cause, depth + 1) : messageOf(error)
}
