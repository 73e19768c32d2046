/**
 * The store refuses a write for a reason that has nothing to do with the content. A result is kept until the store
 * takes it.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterEach, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { connectStello } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()
const undoing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of undoing.splice(0).toReversed()) await undo()
})

/** The user as whom the worker and the client log in. The test itself stays out of that database meanwhile. */
interface Stage {
  role: string
  database: string
  /** A connection to the server, past that database. */
  ask(sql: string): Promise<unknown>
  /** Ends the connections of that user. The user connects again. */
  disconnect(): Promise<unknown>
}

interface Trouble {
  begin(stage: Stage): Promise<unknown>
  end(stage: Stage): Promise<unknown>
  says: string
}

const own = (sql: string) => () => stello.db.pool.query(sql)
const TABLES = ['records', 'steps', 'events', 'turns']
const DAMAGED = `
  create function damaged() returns trigger language plpgsql as $$
  begin raise exception 'could not read block 7' using errcode = 'XX000'; end $$;
  ${TABLES.map((table) => `create trigger damaged before insert or update on ${table} for each row execute function damaged();`).join('\n')}`

const TROUBLES: Record<string, Trouble> = {
  'it is read-only, as a replica that nobody has promoted yet': {
    begin: ({ role, ask, disconnect }) =>
      ask(`alter role ${role} set default_transaction_read_only = on`).then(disconnect),
    end: ({ role, ask, disconnect }) => ask(`alter role ${role} reset default_transaction_read_only`).then(disconnect),
    says: 'the store is read-only',
  },
  'the password was changed': {
    begin: ({ role, ask, disconnect }) => ask(`alter role ${role} password 'another'`).then(disconnect),
    end: ({ role, ask }) => ask(`alter role ${role} password 'secret'`),
    says: 'the store refuses the log-in',
  },
  'the database has another name': {
    begin: async ({ database, ask }) => {
      await ask(`alter database ${database} allow_connections false`)
      await ask(`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${database}'`)
      await ask(`alter database ${database} rename to ${database}_away`)
    },
    end: async ({ database, ask }) => {
      await ask(`alter database ${database}_away rename to ${database}`)
      await ask(`alter database ${database} allow_connections true`)
    },
    says: 'the database is not there',
  },
  'the database takes no connections': {
    begin: async ({ database, ask }) => {
      await ask(`alter database ${database} allow_connections false`)
      await ask(`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${database}'`)
    },
    end: ({ database, ask }) => ask(`alter database ${database} allow_connections true`),
    says: 'the store is not in a state to do this',
  },
  'a lock is not given in time': {
    begin: async ({ role, ask, disconnect }) => {
      await ask(`alter role ${role} set lock_timeout = '50ms'`)
      await disconnect()
      await stello.db.pool.query(`create function vacuum_full() returns trigger language plpgsql as $$
        begin raise exception 'canceling statement due to lock timeout' using errcode = '55P03'; end $$`)
      await stello.db.pool.query(
        `create trigger vacuum_full before insert on records for each row execute function vacuum_full()`,
      )
    },
    end: own('drop function vacuum_full() cascade'),
    says: 'the store gives no lock in time',
  },
  'the user may no longer write': {
    begin: ({ role }) => own(`revoke update on steps from ${role}`)(),
    end: ({ role }) => own(`grant update on steps to ${role}`)(),
    says: 'the store does not permit this',
  },
  'a column is not there, as where the schema is of another version': {
    begin: own('alter table steps rename column ends_turn to ends_turns'),
    end: own('alter table steps rename column ends_turns to ends_turn'),
    says: 'the store does not know what it is asked for',
  },
  'it is damaged': {
    begin: own(DAMAGED),
    end: own('drop function damaged() cascade'),
    says: 'the store has met an error of its own',
  },
}

it.each(Object.entries(TROUBLES))(
  '%s: what has ended meanwhile is kept, not lost, and not paid twice',
  async (_, trouble) => {
    const { stage, databaseUrl } = await enter()
    const [paying, answering] = [createGate(), createGate()]
    const pay = tool('pay', 'Pays', z.object({}), () => paying.pass().then(() => `paid ${paying.arrived}`))
    const llm = scriptedModel(
      replyBy([
        ['pay', { toolCalls: [{ name: 'pay' }] }],
        [{ tool: 'pay' }, ({ messages }) => `read: ${messages.at(-1)?.content}`],
        ['answer', () => answering.pass().then(() => 'answered')],
      ]),
    )
    const worker = await stello.work({ llm, capabilities: { tools: [pay] } }, { databaseUrl })
    const client = await connectStello({ ...stello.servers, databaseUrl })
    undoing.push(() => client.close())
    const begin = async (text: string) => {
      const session = await client.createSession({ agent: worker.taskQueue })
      return (await session.send(text)).result({ onPause: 'throw' })
    }
    const turns = [begin('pay'), begin('answer')]
    for (const turn of turns) turn.catch(() => undefined)
    await Promise.all([paying.reached(), answering.reached()])

    await trouble.begin(stage)
    const mend = vi.fn(() => trouble.end(stage))
    undoing.push(async () => mend.mock.calls.length > 0 || (await mend()))
    paying.open()
    answering.open()
    const kept = (): string[] => stello.warnings.filter((line) => line.includes(trouble.says))
    await vi.waitFor(() => expect(kept().filter((line) => line.includes('has ended'))).toHaveLength(2), 30_000)
    await mend()

    expect((await Promise.all(turns)).map(({ text }) => text)).toEqual(['read: paid 1', 'answered'])
    expect(paying.arrived).toBe(1)
    expect(answering.arrived).toBe(1)
    expect(llm.calls).toHaveLength(3)
  },
)

it('a worker that is asked to stop waits for the store no longer than for a running step', async () => {
  const gate = createGate()
  const pay = tool('pay', 'Pays', z.object({}), () => gate.pass().then(() => 'paid'))
  const llm = scriptedModel(
    replyBy([
      ['pay', { toolCalls: [{ name: 'pay' }] }],
      [{ tool: 'pay' }, ({ messages }) => `read: ${messages.at(-1)?.content}`],
    ]),
  )
  const worker = await stello.work({ llm, capabilities: { tools: [pay] } })
  const session = await stello.client.createSession({ agent: worker.taskQueue })
  const turn = await session.send('pay')
  await gate.reached()
  await stello.db.pool.query(DAMAGED)
  undoing.push(() => stello.db.pool.query('drop function if exists damaged() cascade'))
  gate.open()
  await vi.waitFor(() => expect(stello.warnings.join()).toContain('has ended and is tried'), 30_000)
  // The turn is cancelled, so its step was told to stop before.
  await session.cancelTurn()
  await worker.stop()
  expect(stello.warnings.join()).toContain('the worker stops, and how step t1.0.0 ended is lost')
  await stello.db.pool.query('drop function damaged() cascade')
  await stello.work({ name: worker.taskQueue, llm, capabilities: { tools: [pay] } })
  expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
  expect(gate.arrived).toBe(1)
})

async function enter(): Promise<{ stage: Stage; databaseUrl: string }> {
  const role = `role_${randomBytes(4).toString('hex')}`
  const url = new URL(stello.servers.databaseUrl)
  const database = url.pathname.slice(1)
  const server = new URL(url)
  server.pathname = '/postgres'
  const admin = new pg.Client({ connectionString: server.href })
  await admin.connect()
  const ask = (sql: string): Promise<unknown> => admin.query(sql)
  await ask(`create role ${role} login password 'secret'`)
  await stello.db.pool.query(
    `grant all on all tables in schema public to ${role}; grant create on schema public to ${role}`,
  )
  const disconnect = (): Promise<unknown> =>
    ask(`select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = '${role}'`)
  undoing.push(async () => {
    await disconnect()
    await stello.db.pool.query(`drop owned by ${role}`)
    await ask(`drop role ${role}`)
    await admin.end()
  })
  url.username = role
  url.password = 'secret'
  return { stage: { role, database, ask, disconnect }, databaseUrl: url.href }
}
