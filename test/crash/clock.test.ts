/**
 * No rule of ours reads a wall clock. A worker whose clock jumps does the same as any other worker, also when it is
 * killed.
 */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { replyBy } from '../../src/testing/index.ts'
import { useFreshStage } from '../support/crash-stage.ts'
import { eventsUntil } from '../support/session-fixture.ts'
import { fieldOf } from '../support/events.ts'

const stage = useFreshStage({
  script: replyBy([
    ['hello', 'answer to hello'],
    ['look', { toolCalls: [{ name: 'look' }] }],
    ['wire', { toolCalls: [{ name: 'wire' }] }],
    [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
  ]),
})
const JUMPING = fileURLToPath(new URL('../support/jumping-clock.mjs', import.meta.url))

it('serves, is taken over from, and takes over while its clock jumps a day and a half forward and back', async () => {
  const jumping = await stage.startWorker({}, [JUMPING])
  const session = await stage.session()
  const first = await session.send('hello')
  expect((await first.result()).text).toBe('answer to hello')
  const second = await session.send('look')
  await stage.doors.knocked(1)
  await jumping.kill()
  const steady = await stage.startWorker()
  await stage.doors.knocked(2)
  await steady.kill()
  await stage.startWorker({}, [JUMPING])
  await stage.doors.knocked(3)
  stage.door.open()
  expect((await second.result()).text).toBe('read: look done')
  expect(stage.fake.requests).toHaveLength(3)
  const events = await eventsUntil(session, ({ type, data }) => type === 'turn.completed' && data['turn'] === 2)
  const looked = events.find(({ type }) => type === 'tool.status')
  expect(fieldOf(looked?.data, 'durationMs')).toBeGreaterThanOrEqual(0)
  expect(fieldOf(looked?.data, 'durationMs')).toBeLessThan(60_000)
})

it('puts a question to a person at the time of the database', async () => {
  const first = await stage.startWorker({}, [JUMPING])
  const session = await stage.session()
  await session.send('wire')
  await stage.doors.knocked(1)
  await first.kill()
  await stage.startWorker({}, [JUMPING])
  await eventsUntil(session, ({ type }) => type === 'pending.opened')
  const { rows } = await stage.db.pool.query<{ item: string; step: Date; now: Date }>(
    `select pending->>'at' as item, begun_at as step, now() from steps where session_id = $1 and pending is not null`,
    [session.id],
  )
  const [at] = rows
  expect(new Date(at?.item ?? '').getTime()).toBeGreaterThanOrEqual(at?.step.getTime() ?? NaN)
  expect(new Date(at?.item ?? '').getTime()).toBeLessThanOrEqual(at?.now.getTime() ?? NaN)
})
