/** An answer of the server that is no success, or no answer at all. */

/** The code of a request that no server has answered. */
export const AWAY = 'SERVER_AWAY'

/** What went wrong with a request, for people and for programs. */
export class ApiFailure extends Error {
  readonly status: number
  /** A code of the project, e.g. `SESSION_NOT_FOUND`; `SERVER_AWAY` when nobody has answered. */
  readonly code: string
  /** What to do. */
  readonly hint?: string

  constructor(status: number, { code, message, hint }: { code: string; message: string; hint?: string }) {
    super(message)
    this.name = 'ApiFailure'
    this.status = status
    this.code = code
    if (hint !== undefined) this.hint = hint
  }
}

/** An error that a request has thrown, as a failure. */
export function toFailure(thrown: unknown): ApiFailure {
  if (thrown instanceof ApiFailure) return thrown
  return new ApiFailure(0, {
    code: AWAY,
    message: 'the server does not answer',
    hint: 'is `stello web` or `stello dev` still running?',
  })
}

/** The failure that a response tells of, whatever its body is. */
export async function readFailure(response: Response): Promise<ApiFailure> {
  const body = (await response.json().catch(() => undefined)) as { error?: ErrorBody } | undefined
  const { code = `HTTP_${response.status}`, message = response.statusText, hint } = body?.error ?? {}
  return new ApiFailure(response.status, { code, message, ...(hint !== undefined && { hint }) })
}

interface ErrorBody {
  code?: string
  message?: string
  hint?: string
}
