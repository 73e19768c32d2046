/** What is wrong with the input of a request, in one sentence that names the field. */
import { StelloError } from '../core/errors.ts'
import type { z } from '@hono/zod-openapi'

const PLACES: Readonly<Record<string, string>> = { json: 'the body', query: 'the query', param: 'the path' }

/** What Hono itself refuses: a body that is no JSON. */
export function toBadBody({ message }: Error): StelloError {
  return new StelloError('INVALID_ARGUMENT', `the body: ${message}`)
}

/** @param target the part of the request that was checked, as Hono names it */
export function toInvalidRequest(target: string, { issues }: z.ZodError): StelloError {
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
