/** Whether PostgreSQL is reached directly, with the PgBouncer of Debian in between, in each of its modes. */
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { proveDirect } from '../../src/store/database/direct.ts'
import { holdLiveness, isAlive, newBootId } from '../../src/store/ledger/liveness.ts'
import { startPgBouncer, type PgBouncerOptions } from '../support/pgbouncer.ts'
import { startProxyBefore } from '../support/tcp-proxy.ts'
import { visit } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function behind(options: PgBouncerOptions): Promise<string> {
  const pooler = await startPgBouncer(at.url, options)
  closing.push(() => pooler.close())
  return pooler.url
}

/** Clients that begin and end transactions all the time. */
async function busy(url: string, clients = 8): Promise<void> {
  let stopped = false
  const loops = Array.from({ length: clients }, async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    while (!stopped) await client.query('select 1')
    await client.end()
  })
  closing.push(async () => {
    stopped = true
    await Promise.all(loops)
  })
}

const refusal = (message: string): object => ({
  code: 'DATABASE_UNREACHABLE',
  message: expect.stringContaining(message),
  hint: expect.stringContaining('pool_mode = session'),
})

describe('the proof that a connection is direct', () => {
  it('is given by PostgreSQL itself', async () => {
    await expect(proveDirect(at.url)).resolves.toBeUndefined()
  })

  it('is given by a pooler in session mode, however busy it is', async () => {
    const url = await behind({ mode: 'session' })
    await expect(proveDirect(url)).resolves.toBeUndefined()
    await busy(url)
    await expect(proveDirect(url)).resolves.toBeUndefined()
  })

  it.each([1, 60])(
    'is not given by a pooler in transaction mode that nobody else uses, with %i places',
    async (size) => {
      const url = await behind({ mode: 'transaction', poolSize: size })
      await expect(proveDirect(url)).rejects.toMatchObject(refusal('transaction mode'))
    },
  )

  it('is not given by a pooler in transaction mode that many use', async () => {
    const url = await behind({ mode: 'transaction' })
    await busy(url)
    for (let n = 0; n < 10; n++) await expect(proveDirect(url)).rejects.toMatchObject(refusal('transaction mode'))
  })

  it.each([
    ['in statement mode', { mode: 'statement' }, 'transaction blocks not allowed'],
    [
      'that takes no options of a connection',
      { mode: 'session', takesOptions: false },
      'unsupported startup parameter',
    ],
  ] as const)('is not given by a pooler %s, and the error says what to do', async (_which, options, message) => {
    await expect(proveDirect(await behind(options))).rejects.toMatchObject(refusal(message))
  })

  it('names a server that cannot be reached, without the password', async () => {
    const error: unknown = await proveDirect('postgresql://user:secret@127.0.0.1:1/nowhere').catch(
      (why: unknown) => why,
    )
    expect(error).toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringContaining('127.0.0.1:1/nowhere'),
    })
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('secret')
  })
})

it('after its worker is gone, no lock is held through a pooler in session mode', async () => {
  const { proxy, url } = await startProxyBefore(await behind({ mode: 'session' }))
  closing.push(() => proxy.close())
  await visit(at.db)
  const bootId = newBootId()
  const liveness = await holdLiveness(url, bootId)
  expect(await isAlive(at.db, bootId, { graceMs: 0 })).toBe(true)
  proxy.refuse(true)
  proxy.cut()
  await expect.poll(() => isAlive(at.db, bootId, { graceMs: 0 }), { timeout: 20_000 }).toBe(false)
  await liveness.release()
})
