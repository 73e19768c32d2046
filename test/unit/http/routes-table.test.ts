/** The tables of docs/http.md agree with the code. */
import { expect, it } from 'vitest'
import type { StelloClient } from '../../../src/client/index.ts'
import { STATUS_OF } from '../../../src/http/http-error.ts'
import { createHttpApp } from '../../../src/http/index.ts'
import { rowsBelow } from '../../support/doc-tables.ts'

interface Described {
  summary: string
  parameters?: { in: string; name: string }[]
}

it('every route, what it does, and what its query takes', async () => {
  const app = createHttpApp({ stello: {} as StelloClient })
  const document = await app.request('/api/openapi.json', { headers: { host: 'localhost' } })
  const { paths } = (await document.json()) as { paths: Record<string, Record<string, Described>> }
  const known = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, parameters = [] }]) => {
      const query = parameters.filter((one) => one.in === 'query').map(({ name }) => `\`${name}\``)
      return [`\`${method.toUpperCase()} ${path}\``, summary, query.join(', ')]
    }),
  )
  expect(rowsBelow('http.md', '| route |')).toEqual(known)
})

it('every status, and the codes that have it', () => {
  const statuses = [...new Set(Object.values(STATUS_OF))].toSorted((a, b) => a - b)
  const known = statuses.map((status) => {
    const codes = Object.keys(STATUS_OF).filter((code) => STATUS_OF[code] === status)
    return [String(status), codes.map((code) => `\`${code}\``).join(', ')]
  })
  expect(rowsBelow('http.md', '| status |')).toEqual(known)
})
