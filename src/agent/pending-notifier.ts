/** Who is told when something waits for a person: a function of the author, or a webhook. */
import { isObject } from '../core/is-object.ts'
import type { Notice } from '../protocol/notices.ts'

/** A server that is told by an HTTP POST. Its headers may be secrets by reference: `{ authorization: fromEnv('HOOK_TOKEN') }`. */
export interface PendingWebhook {
  /** Where the notice is sent, as JSON. */
  url: string
  /** Headers of the request. */
  headers?: Readonly<Record<string, string | { readonly fromEnv: string }>>
}

/**
 * Told once of each question and each pause that a person must end. It is told again only when nobody knows whether it has
 * heard: its worker died, or it failed. `notice.key` is the same then.
 */
export type PendingNotifier = PendingWebhook | ((notice: Notice, context: { signal: AbortSignal }) => unknown)

/** What is wrong with a notifier. */
export function notifierProblem(stated: unknown): string | undefined {
  if (stated === undefined || typeof stated === 'function') return undefined
  if (!isObject(stated)) return 'onPending: must be a function or { url, headers }'
  const { url, headers = {}, ...rest } = stated
  const [other] = Object.keys(rest)
  if (other !== undefined) return `onPending: "${other}" is no field of it: url, headers`
  if (typeof url !== 'string' || !/^https?:\/\//.test(url) || !URL.canParse(url))
    return 'onPending: url: must be an address that begins with http:// or https://'
  const isText = (value: unknown): boolean =>
    typeof value === 'string' || (isObject(value) && typeof value['fromEnv'] === 'string')
  if (!isObject(headers) || !Object.values(headers).every(isText))
    return "onPending: headers: must be texts, or secrets by reference: fromEnv('HOOK_TOKEN')"
  return undefined
}
