/** The schema is updated by hand, for workers that may not change it. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { stello, stelloJson } from './command.ts'
import { AGENT } from './served.ts'

const name = `test_${randomBytes(6).toString('hex')}`
const url = new URL(inject('databaseUrl'))
const env = { STELLO_DATABASE_URL: '', TEMPORAL_ADDRESS: inject('temporalAddress'), OPENAI_API_KEY: 'any' }

async function execute(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') })
  await client.connect()
  await client.query(sql)
  await client.end()
}

beforeAll(async () => {
  await execute(`create database ${name}`)
  url.pathname = `/${name}`
  env.STELLO_DATABASE_URL = url.href
})
afterAll(() => execute(`drop database ${name} with (force)`))

it('is asked for by a worker that may not do it; it happens once, and needs no Temporal', async () => {
  const { code, stderr } = await stello(['worker', AGENT, '--no-migrate'], { env })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/the schema lacks 0001_awaits[^]*stello migrate/)])

  const { TEMPORAL_ADDRESS: _none, ...database } = env
  const [first] = await stelloJson<{ schema: string; ran: string[] }>(['migrate'], { env: database })
  expect(first).toEqual({ schema: first?.ran.at(-1), ran: expect.arrayContaining(['0001_awaits']), waiting: [] })
  expect(await stelloJson(['migrate'], { env: database })).toEqual([{ schema: first?.schema, ran: [], waiting: [] }])
})
