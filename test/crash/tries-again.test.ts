/** A worker dies while a session waits for its next try. Another worker makes that try, once. */
import { expect, it } from 'vitest'
import { replyBy } from '../../src/testing/index.ts'
import { useFreshStage } from '../support/crash-stage.ts'
import { eventOf } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stage = useFreshStage({
  script: replyBy([
    ['charge', { toolCalls: [{ name: 'charge' }] }],
    [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
  ]),
})

it('of a tool with an effect that could not begin', async () => {
  stage.doors.say('charge', 'busy')
  const first = await stage.startWorker()
  const session = await stage.session()
  const turn = await session.send('charge')
  await until('the tool has given up its call', async () => {
    const { rows } = await stage.db.pool.query<{ failures: number }>(
      `select failures from steps where session_id = $1 and kind = 'tool'`,
      [session.id],
    )
    return rows[0]?.failures === 1
  })
  await first.kill()
  stage.doors.say('charge', 'charged')
  await stage.startWorker()
  expect((await turn.result()).text).toBe('read: charged')
  expect(stage.doors.knocks.map(({ tool }) => tool)).toEqual(['charge', 'charge'])
})

it('of a paused session, which goes on by itself', async () => {
  const autoResume = { keys: true, first: 3000 }
  const first = await stage.startWorker({ autoResume })
  const session = await stage.session()
  stage.fake.failNext({ status: 401 })
  const turn = await session.send('hello')
  const paused = await eventOf(session, 'session.paused')
  expect(paused.data).toMatchObject({ clears: 'keys', nextTryAt: expect.any(String) })
  await first.kill()
  await stage.startWorker({ autoResume })
  expect((await turn.result()).text).toBe('read: hello')
  expect(stage.fake.requests).toHaveLength(2)
  const { rows } = await stage.db.pool.query(
    `select data from events where session_id = $1 and type = 'session.resumed'`,
    [session.id],
  )
  expect(rows).toEqual([{ data: { tries: 1 } }])
})
