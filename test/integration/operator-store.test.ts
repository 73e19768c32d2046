/**
 * The store is full, restored to an earlier state, emptied, or damaged by hand. Nothing is invented, and people are
 * told.
 */
import { afterEach, describe, expect, inject, it, vi } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { backUp } from '../support/databases.ts'
import { createGate } from '../support/gate.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { stepsShown, viewOf } from '../support/settled.ts'

const stello = useStello()
const script = (): ScriptedModel => scriptedModel(({ messages }) => `answer to ${messages.at(-1)?.content}`)
const turnsOf = (texts: string[]): string[] => texts.flatMap((text) => [text, `answer to ${text}`])
const contents = async (session: SessionHandle): Promise<string[]> =>
  (await session.transcript()).map(({ content }) => content)

const TABLES = ['records', 'steps', 'events']

async function fillDisk(): Promise<void> {
  await stello.db.pool.query(`
    create function disk_full() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
    ${TABLES.map((table) => `create trigger disk_full before insert or update on ${table} for each row execute function disk_full();`).join('\n')}`)
}

async function freeDisk(): Promise<void> {
  await stello.db.pool.query('drop function if exists disk_full() cascade')
}

afterEach(freeDisk)

describe('a full disk', () => {
  it('holds a result back until there is room, writes nothing by halves, repeats nothing, and shows why', async () => {
    const gate = createGate()
    let paid = 0
    const pay = tool('pay', 'Pays', z.object({}), async () => {
      await gate.pass()
      return `paid ${++paid}`
    })
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'pay' }] }],
        [{ tool: 'pay' }, 'done'],
        [() => true, 'hello'],
      ]),
    )
    const session = await stello.session({ llm, capabilities: { tools: [pay] } })
    const turn = await session.send('go')
    await gate.reached()
    await fillDisk()
    gate.open()
    await vi.waitFor(() => expect(stello.warnings.join()).toContain('No space left on device'), { timeout: 30_000 })
    await vi.waitFor(
      async () => expect(await stepsShown(stello.client, session)).toContain('No space left on device'),
      {
        timeout: 30_000,
      },
    )
    expect(await contents(session)).toEqual(['go', ''])
    expect(await session.state()).toMatchObject({ state: 'running', inHand: [{ kind: 'tool', name: 'pay' }] })
    const later = await session.send('hello')
    await freeDisk()
    expect((await turn.result()).text).toBe('done')
    expect((await later.result()).text).toBe('hello')
    expect(await contents(session)).toEqual(['go', '', 'paid 1', 'done', 'hello', 'hello'])
    expect(stello.warnings.filter((line) => line.includes('No space left'))).toHaveLength(1)
  })

  it('begins nothing, and goes on by itself when there is room again', async () => {
    const llm = script()
    const session = await stello.session({ llm })
    await ask(session, 'one')
    await fillDisk()
    const turn = await session.send('two')
    await vi.waitFor(
      async () => expect(await stepsShown(stello.client, session)).toContain('No space left on device'),
      {
        timeout: 30_000,
      },
    )
    expect(await contents(session)).toEqual(turnsOf(['one']))
    expect(llm.calls).toHaveLength(1)
    await freeDisk()
    expect((await turn.result()).text).toBe('answer to two')
    expect(llm.calls).toHaveLength(2)
  })
})

describe('a record deleted by hand', () => {
  it('pauses the session, naming both; after it is restored, resume goes on', async () => {
    const name = `damaged-${Date.now()}`
    const llm = script()
    const first = await stello.work({ name, llm })
    const session = await stello.client.createSession({ agent: name })
    await ask(session, 'one')
    await first.stop()
    await stello.db.pool.query('create table kept as select * from records where session_id = $1 and seq = 2', [
      session.id,
    ])
    await stello.db.pool.query('delete from records where session_id = $1 and seq = 2', [session.id])
    await stello.work({ name, llm })
    const turn = await session.send('two')
    await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
    const named = new RegExp(`session ${session.id}: record 2 .*missing`)
    expect((await session.state()).pause).toMatchObject({
      reason: 'store_error',
      message: expect.stringMatching(named),
    })
    await stello.db.pool.query('insert into records select * from kept')
    await session.resume()
    expect((await turn.result()).text).toBe('answer to two')
    expect(await contents(session)).toEqual(turnsOf(['one', 'two']))
    await stello.db.pool.query('delete from records where session_id = $1 and seq = 2', [session.id])
    await expect(session.transcript()).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringMatching(named) as string,
    })
  })
})

/**
 * Each of them has lost its lock, has taken it again over one of its connections, and has forgotten what it remembered
 * of the store.
 */
async function workersAreBack(): Promise<void> {
  const { rows } = await stello.db.pool.query(
    `select distinct classid, objid from pg_locks where locktype = 'advisory' and granted
       and database = (select oid from pg_database where datname = current_database())`,
  )
  expect(rows).toHaveLength(inject('workersPerAgent') ?? 1)
}

describe('a store restored from an older copy', () => {
  it('pauses the session and ignores what a worker remembers; recover goes on from the copy', async () => {
    const llm = script()
    const session = await stello.session({ llm })
    await ask(session, 'one')
    await viewOf(stello.client, session)
    const backup = await backUp(stello.servers.databaseUrl)
    await vi.waitFor(() => ask(session, 'two'), { timeout: 30_000 })
    await backup.restore()
    await vi.waitFor(workersAreBack, { timeout: 30_000 })
    const turn = await session.send('three')
    await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({
      code: 'SESSION_PAUSED',
      message: expect.stringMatching(new RegExp(`session ${session.id}: record 3 .*missing`)) as string,
    })
    expect(await contents(session)).toEqual(turnsOf(['one']))
    await session.recover({ restart: true })
    expect((await turn.result()).text).toBe('answer to three')
    expect((await contents(session)).slice(0, 2)).toEqual(turnsOf(['one']))
  })
})

describe('an emptied store', () => {
  it('knows no session: callers read that, the workflow pauses, and nothing is written', async () => {
    const session = await stello.session({ llm: script() })
    await ask(session, 'one')
    await viewOf(stello.client, session)
    const told = expect(session.turn('never').result()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await stello.db.pool.query('truncate sessions, runs, generations, messages, turns, records, steps, events, usage')
    await told
    await expect(session.send('two')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await stello.client.temporal.workflow.getHandle(session.id).signal('message', 'by hand')
    const view = await viewOf(stello.client, session, ({ status }) => status === 'paused')
    expect(view.pause).toMatchObject({ reason: 'store_error', message: expect.stringContaining(session.id) })
    const { rows } = await stello.db.pool.query('select 1 from records union all select 1 from steps')
    expect(rows).toEqual([])
    await stello.client.temporal.workflow.getHandle(session.id).terminate()
  })
})
