/** Says what became of a request that got no result, above all whether the server may have done something. */
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { messageOf } from '../../core/errors.ts'

/**
 * `not_sent`: the server has done nothing, another try may help. `refused`: the server has said no. `lost`: nobody
 * knows what the server has done.
 */
export type TroubleKind = 'not_sent' | 'refused' | 'lost'

export class LinkTrouble extends Error {
  override readonly name = 'LinkTrouble'
  readonly kind: TroubleKind
  /** The connection cannot be used any more. */
  readonly broken: boolean

  constructor(kind: TroubleKind, message: string, broken: boolean) {
    super(message)
    this.kind = kind
    this.broken = broken
  }
}

/** HTTP statuses that say that the server has not processed the request. 404: it has forgotten the session. */
const NOT_LOOKED_AT: readonly unknown[] = [401, 404, 429]
/** Error codes of a socket that was never connected. */
const NOT_CONNECTED: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

/** @param ended why the connection has ended, if it has */
export function toTrouble(error: unknown, ended: string | undefined): LinkTrouble {
  if (error instanceof LinkTrouble) return error
  const message = messageOf(error)
  if (message === 'Not connected') return new LinkTrouble('not_sent', ended ?? message, true)
  if (ended !== undefined) return new LinkTrouble('lost', ended, true)
  if (error instanceof StreamableHTTPError) return ofStatus(error.code, message)
  if (error instanceof McpError) return new LinkTrouble(ofCode(error.code), message, false)
  if (NOT_CONNECTED.includes(socketCode(error))) return new LinkTrouble('not_sent', String(socketCode(error)), true)
  if (error instanceof TypeError) return new LinkTrouble('lost', message, true)
  // The answer came, but it is no result: the tool has run.
  return new LinkTrouble('refused', `it answered with something that is no result: ${message}`, false)
}

function ofStatus(status: number | undefined, message: string): LinkTrouble {
  if (NOT_LOOKED_AT.includes(status)) return new LinkTrouble('not_sent', message, status === 404)
  const refused = status !== undefined && status >= 400 && status < 500
  return new LinkTrouble(refused ? 'refused' : 'lost', message, false)
}

function ofCode(code: number): TroubleKind {
  return code === (ErrorCode.RequestTimeout as number) ? 'lost' : 'refused'
}

/** `fetch` hides the reason in causes. */
function socketCode(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause) if ('code' in at) return at.code
  return undefined
}
