/** What streams while a step runs: few rows, nothing left behind. */
import { expect, it } from 'vitest'
import { createLiveWriter } from '../../src/activities/live-writer.ts'
import { readLive } from '../../src/store/events.ts'
import { settleStep } from '../../src/store/settle.ts'
import { countRows, openSession, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const quiet = { warn: () => undefined }

it('writes arguments that stream in as one card, and stops when it shows enough of them', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const writer = createLiveWriter(at.db, () => undefined, quiet)
  const live = writer.step(run.sessionId, step.key, step.lease)
  for (let i = 0; i < 2000; i++) live.delta({ type: 'toolCall', index: 0, id: 'c1', name: 'write', arguments: '12345' })
  await writer.close()
  const pieces = await readLive(at.db, run.sessionId)
  expect(pieces).toMatchObject([{ type: 'tool.status', data: { status: 'WAIT', callId: 'c1', name: 'write' } }])
  expect(String(pieces[0]?.data['arguments']).length).toBeLessThan(4200)
})

it('leaves no rows behind: the end of a step waits for what is being written', async () => {
  const run = await openSession(at.db)
  const step = await take(at.db, run)
  const writer = createLiveWriter(at.db, () => undefined, quiet)
  const live = writer.step(run.sessionId, step.key, step.lease)
  live.delta({ type: 'text', text: 'hello' })
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
