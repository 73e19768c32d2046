/** Indexes are built while others work, once, and again if that failed. */
import { expect, it } from 'vitest'
import { updateIndexes } from '../../src/store/schema/indexes.ts'
import { until } from '../support/until.ts'
import { openSession, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const stateOf = async (name: string): Promise<boolean | undefined> => {
  const { rows } = await at.db.pool.query<{ valid: boolean }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
    [name],
  )
  return rows[0]?.valid
}

it('drops what is no longer used', async () => {
  await at.db.pool.query('create index tests_gone on sessions (label)')
  expect([...(await updateIndexes(at.db, { definitions: { tests_gone: null } }))]).toEqual([])
  expect(await stateOf('tests_gone')).toBeUndefined()
})

it('lets the update that stores a question leave all indexes alone', async () => {
  const step = await take(at.db, await openSession(at.db))
  const tx = await at.db.pool.connect()
  await tx.query('begin')
  await tx.query(`update steps set pending = '{}' where session_id = $1`, [step.sessionId])
  const { rows } = await tx.query(
    `select n_tup_upd::int as updates, n_tup_hot_upd::int as hot from pg_stat_xact_user_tables where relname = 'steps'`,
  )
  await tx.query('rollback')
  tx.release()
  expect(rows).toEqual([{ updates: 1, hot: 1 }])
})

it('lets others write while an index is built, and the build waits for earlier writers', async () => {
  const definitions = { tests_label: 'on sessions (label)' }
  const tx = await at.db.pool.connect()
  await tx.query('begin')
  await tx.query(`update sessions set label = 'x' where false`)
  await tx.query('select pg_current_xact_id()')
  const building = updateIndexes(at.db, { waitMs: 0, definitions })
  const waits = `select from pg_stat_activity where application_name = 'stello-indexes' and wait_event_type = 'Lock'`
  await until('the index waits', async () => (await at.db.pool.query(waits)).rowCount === 1)
  await openSession(at.db)
  await tx.query('commit')
  tx.release()
  expect([...(await building)]).toEqual([])
  expect(await stateOf('tests_label')).toBe(true)
})

it('waits no longer than it is told for a transaction that holds it up, says so, and ends the work the next time', async () => {
  const definitions = { tests_agent: 'on sessions (agent, label)' }
  const tx = await at.db.pool.connect()
  await tx.query('begin')
  await tx.query(`update sessions set label = 'x' where false`)
  await tx.query('select pg_current_xact_id()')
  const failed = await updateIndexes(at.db, { waitMs: 50, definitions })
  expect([...failed.keys()]).toEqual(['tests_agent'])
  expect(await stateOf('tests_agent')).toBe(false)
  await tx.query('commit')
  tx.release()
  expect([...(await updateIndexes(at.db, { definitions }))]).toEqual([])
  expect(await stateOf('tests_agent')).toBe(true)
})

it('is done by one of several workers that start at once, and none of them waits for ever', async () => {
  const definitions = { tests_depth: 'on sessions (depth)' }
  const all = await Promise.all([1, 2, 3].map(() => updateIndexes(at.db, { definitions })))
  expect(all.flatMap((failed) => [...failed])).toEqual([])
  expect(await stateOf('tests_depth')).toBe(true)
})
