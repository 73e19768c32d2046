/** What streams while a step runs: it takes few rows, and leaves nothing behind. */
import type { ClientDeps } from '../../src/client/client-deps.ts'
import { watchSession } from '../../src/client/watch.ts'
import { expect, it } from 'vitest'
import { createLiveWriter, type LiveStep, type LiveWriter } from '../../src/activities/live-writer.ts'
import { ToolChannel } from '../../src/activities/tool/tool-channel.ts'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import type { LivePiece } from '../../src/store/watching/event-log.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { startProxyBefore } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { countRows, openSession, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { fieldOf, readLive } from '../support/events.ts'

const at = useDatabase()
const quiet = { warn: () => undefined }

it('keeps one row for values of which only the latest counts, however often and late they come', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const writer = createLiveWriter(at.db, { notify: () => undefined, log: quiet })
  const live = writer.step(run.sessionId, step.key, step.lease)
  const call = { id: 'c1', name: 'write' }
  for (let round = 1; round <= 3; round++) {
    for (let i = 0; i < 2000; i++) {
      live.card(call, { status: 'WAIT', params: { i, round } })
      live.update(call, 'update', i)
      live.update(call, 'progress', { progress: `${i}` })
    }
    await writer.close()
  }
  const pieces = await readLive(at.db, run.sessionId)
  expect(pieces.map(({ event: { type, data } }) => [type, fieldOf(data, 'params') ?? fieldOf(data, 'update')])).toEqual(
    [
      ['tool.status', { i: 1999, round: 3 }],
      ['tool.update', 1999],
      ['tool.update', { progress: '1999' }],
    ],
  )
})

it('leaves no rows behind: the end of a step waits for what is being written', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const writer = createLiveWriter(at.db, { notify: () => undefined, log: quiet })
  const live = writer.step(run.sessionId, step.key, step.lease)
  live.text('hello')
  void writer.close()
  // A time after the write has begun.
  await Promise.resolve()
  await live.end()
  await settleStep(at.db, step, { outcome: {}, writes: {} })
  expect(await countRows(at.db, 'live', run.sessionId)).toBe(0)
})

it('shows nothing of a settled step, whatever was written late', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  await settleStep(at.db, step, { outcome: {}, writes: {} })
  await at.db.pool.query(
    `insert into live (session_id, step_key, lease, n, type, data) values ($1, $2, 1, 0, 'message.delta', '{}')`,
    [run.sessionId, step.key],
  )
  expect(await readLive(at.db, run.sessionId)).toEqual([])
})

it('goes on when a tool sends something that is no JSON', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const warnings: string[] = []
  const writer = createLiveWriter(at.db, {
    notify: () => undefined,
    log: { warn: (message) => void warnings.push(message) },
  })
  const live = writer.step(run.sessionId, step.key, step.lease)
  const channel = new ToolChannel({ id: 'c1', name: 'count' }, { live })
  channel.context.onUpdate({ n: 1n })
  channel.status('DOING', { params: { all: new Map() } })
  live.text('hello')
  await writer.close()
  const pieces = await readLive(at.db, run.sessionId)
  expect(
    pieces.map(({ event: { data } }) => fieldOf(data, 'update') ?? fieldOf(data, 'params') ?? fieldOf(data, 'text')),
  ).toEqual([
    'not JSON: "n" is a bigint',
    { '…': expect.stringMatching(/^not JSON: "all" is a Map; /) as string },
    'hello',
  ])
  expect(warnings).toEqual([])
})

const textOf = (pieces: LivePiece[]): string =>
  pieces.flatMap(({ event }) => (event.type === 'message.delta' ? [event.data.text] : [])).join('')

/** The store takes no live row until the returned function is called. @param sqlState the reason it gives */
async function refuseLive(sqlState: string): Promise<() => Promise<unknown>> {
  await at.db.pool.query(`
    create function refuse_live() returns trigger language plpgsql as $$
      begin raise exception 'refused' using errcode = '${sqlState}'; end $$;
    create trigger refuse_live before insert on live for each row execute function refuse_live()`)
  return () => at.db.pool.query('drop function refuse_live cascade')
}

/** A writer, and a gate that its first failed write reaches. */
function failing(db: Database): { writer: LiveWriter; failed: Gate } {
  const failed = createGate()
  failed.open()
  return { writer: createLiveWriter(db, { notify: () => undefined, log: { warn: () => void failed.pass() } }), failed }
}

it('catches up by itself when the store answers again, whatever it was that came last', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const accept = await refuseLive('53100')
  const { writer, failed } = failing(at.db)
  const live = writer.step(run.sessionId, step.key, step.lease)
  const call = { id: 'c1', name: 'write' }
  live.card(call, { status: 'WAIT' })
  live.text('hel')
  await failed.reached()
  live.text('lo')
  live.card(call, { status: 'DOING' })
  await accept()
  await until('all that was told', async () => {
    const pieces = await readLive(at.db, run.sessionId)
    return textOf(pieces) === 'hello' && pieces.some(({ event }) => fieldOf(event.data, 'status') === 'DOING')
  })
  // The text in two pieces, and one card.
  expect(await countRows(at.db, 'live', run.sessionId)).toBe(3)
  await writer.close()
})

/**
 * Gives `first` to a writer that never hears of the success of its write, then `second`, and waits for what is shown in
 * the end.
 */
async function tellUnheard(
  first: (live: LiveStep) => void,
  second: (live: LiveStep) => void,
  shows: (pieces: LivePiece[]) => boolean,
): Promise<void> {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const { proxy, url } = await startProxyBefore(at.url)
  const db = openDatabase(url)
  const { writer, failed } = failing(db)
  try {
    await db.lazyPool.query('select 1')
    proxy.hold()
    const live = writer.step(run.sessionId, step.key, step.lease)
    first(live)
    await until('the write', async () => (await readLive(at.db, run.sessionId)).length === 1)
    await at.db.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%into live%'
         and pid <> pg_backend_pid()`,
    )
    await failed.reached()
    proxy.release()
    second(live)
    await until('the rest', async () => shows(await readLive(at.db, run.sessionId)))
  } finally {
    await writer.close()
    await db.close()
    await proxy.close()
  }
}

it('loses no text that comes after a write whose success was not reported', () =>
  tellUnheard(
    (live) => live.text('hel'),
    (live) => live.text('lo'),
    (pieces) => textOf(pieces) === 'hello',
  ))

it('shows only the latest card after a write whose success was not reported', () =>
  tellUnheard(
    (live) => live.card({ id: 'c1', name: 'write' }, { status: 'WAIT' }),
    (live) => live.card({ id: 'c1', name: 'write' }, { status: 'DOING' }),
    (pieces) => pieces.length === 1 && fieldOf(pieces[0]?.event.data, 'status') === 'DOING',
  ))

it('leaves no rows behind when the step ends while a write of it fails', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const accept = await refuseLive('53100')
  const writer = createLiveWriter(at.db, { notify: () => undefined, log: quiet })
  const live = writer.step(run.sessionId, step.key, step.lease)
  live.text('hello')
  void writer.close()
  // A time after the write has begun.
  await Promise.resolve()
  await live.end()
  await accept()
  await writer.close()
  expect(await countRows(at.db, 'live', run.sessionId)).toBe(0)
})

it('tells a watcher that comes later when it was written, by the clock of the store', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const writer = createLiveWriter(at.db, { notify: () => undefined, log: quiet })
  writer.step(run.sessionId, step.key, step.lease).text('hello')
  await writer.close()
  const { rows } = await at.db.pool.query<{ at: Date }>(
    `update live set at = now() - interval '1 hour' where session_id = $1 returning at`,
    [run.sessionId],
  )
  const listener = { subscribe: () => () => undefined, close: async () => undefined }
  for await (const event of watchSession({ db: at.db, listener } as unknown as ClientDeps, run.sessionId)) {
    expect(event).toMatchObject({ type: 'message.delta', data: { text: 'hello' }, at: rows[0]?.at })
    break
  }
  expect.assertions(1)
})

it('gives up what the store never takes, and goes on', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const accept = await refuseLive('22000')
  const { writer, failed } = failing(at.db)
  const live = writer.step(run.sessionId, step.key, step.lease)
  live.text('refused')
  await failed.reached()
  await accept()
  live.text('taken')
  await writer.close()
  expect((await readLive(at.db, run.sessionId)).map(({ event }) => fieldOf(event.data, 'text'))).toEqual(['taken'])
})

it('tries once more when it closes, and then stops', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const accept = await refuseLive('53100')
  const warnings: string[] = []
  const writer = createLiveWriter(at.db, {
    notify: () => undefined,
    log: { warn: (message) => void warnings.push(message) },
  })
  writer.step(run.sessionId, step.key, step.lease).text('late')
  const before = timers()
  await writer.close()
  expect(warnings).toHaveLength(1)
  expect(timers()).toBeLessThan(before)
  await accept()
})

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
