/** What streams while a step runs: few rows, nothing left behind. */
import { expect, it } from 'vitest'
import { createLiveWriter } from '../../src/activities/live-writer.ts'
import { ToolChannel } from '../../src/activities/tool-channel.ts'
import { readLive } from '../../src/store/events.ts'
import { settleStep } from '../../src/store/settle.ts'
import { countRows, openSession, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const quiet = { warn: () => undefined }

it('keeps one row of what only the latest counts of, however often and late it comes', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const writer = createLiveWriter(at.db, () => undefined, quiet)
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
  expect(pieces.map(({ type, data }) => [type, data['params'] ?? data['update']])).toEqual([
    ['tool.status', { i: 1999, round: 3 }],
    ['tool.update', 1999],
    ['tool.update', { progress: '1999' }],
  ])
})

it('leaves no rows behind: the end of a step waits for what is being written', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const writer = createLiveWriter(at.db, () => undefined, quiet)
  const live = writer.step(run.sessionId, step.key, step.lease)
  live.text('hello')
  void writer.close()
  await live.end()
  await settleStep(at.db, step, {}, {})
  expect(await countRows(at.db, 'live', run.sessionId)).toBe(0)
})

it('shows nothing of a step that is settled, whatever was written late', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  await settleStep(at.db, step, {}, {})
  await at.db.pool.query(
    `insert into live (session_id, step_key, lease, n, type, data) values ($1, $2, 1, 0, 'message.delta', '{}')`,
    [run.sessionId, step.key],
  )
  expect(await readLive(at.db, run.sessionId)).toEqual([])
})

it('goes on when a tool tells what is no JSON', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const warnings: string[] = []
  const writer = createLiveWriter(at.db, () => undefined, { warn: (message) => void warnings.push(message) })
  const live = writer.step(run.sessionId, step.key, step.lease)
  const channel = new ToolChannel({ id: 'c1', name: 'count' }, { live })
  channel.context.onUpdate({ n: 1n })
  channel.status('DOING', { params: { all: new Map() } })
  live.text('hello')
  await writer.close()
  const pieces = await readLive(at.db, run.sessionId)
  expect(pieces.map(({ data }) => data['update'] ?? data['params'] ?? data['text'])).toEqual([
    'not JSON: "n" is a bigint',
    { '…': 'not JSON: "all" is a Map' },
    'hello',
  ])
  expect(warnings).toEqual([])
})
