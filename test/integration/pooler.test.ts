/** A worker whose database URL leads through the PgBouncer of Debian. */
import { afterEach, expect, it } from 'vitest'
import { createStelloAgent } from '../../src/agent/agent.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { startWorker } from '../../src/worker.ts'
import { startPgBouncer, type PgBouncer, type PgBouncerOptions } from '../support/pgbouncer.ts'
import { ask, quietRuntime, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function behind(mode: PgBouncerOptions['mode']): Promise<PgBouncer> {
  const pooler = await startPgBouncer(stello.servers.databaseUrl, { mode })
  closing.push(() => pooler.close())
  return pooler
}

it('serves in session mode', async () => {
  const { url } = await behind('session')
  const { taskQueue, stop } = await stello.work({ llm: scriptedModel(() => 'hello') }, { databaseUrl: url })
  expect(await ask(await stello.client.createSession({ agent: taskQueue }), 'hi')).toBe('hello')
  await stop()
})

it('does not start in transaction mode, says what to do, and leaves nothing behind', async () => {
  const { url } = await behind('transaction')
  quietRuntime()
  const agent = createStelloAgent({ name: 'pooled', llm: scriptedModel(() => 'hello') })
  await expect(startWorker({ agent, ...stello.servers, databaseUrl: url })).rejects.toMatchObject({
    code: 'DATABASE_UNREACHABLE',
    hint: expect.stringContaining('pool_mode = session'),
  })
  const left = `select from workers where agent = 'pooled' union all
    select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`
  await expect.poll(async () => (await stello.db.pool.query(left)).rowCount).toBe(0)
})
