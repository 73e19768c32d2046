/**
 * A worker is killed in the middle of a tool. The time line shows the attempt that was lost, and the one that took
 * over.
 */
import { expect, it } from 'vitest'
import { useFreshStage } from '../support/crash-stage.ts'
import { eventOf } from '../support/session-fixture.ts'

const stage = useFreshStage()

it('shows both attempts at a tool whose worker was killed, and the worker of each', async () => {
  const first = await stage.startWorker()
  const session = await stage.session()
  const turn = await session.send('look #1')
  await stage.doors.knocked(1)
  const [begun] = (await session.timeline()).filter(({ kind }) => kind === 'tool')
  expect(begun).toMatchObject({ name: 'look', attempt: 1, turn: 1, worker: expect.stringMatching(/^\d+$/) })
  expect(begun?.endedAt).toBeUndefined()
  await first.kill()
  await stage.startWorker()
  await stage.doors.knocked(2)
  stage.door.open()
  await turn.result()
  expect((await eventOf(session, 'step.taken_over')).data).toMatchObject({ key: 't1.0.0', worker: begun?.worker })
  const spans = await session.timeline()
  expect(spans.filter(({ kind }) => kind === 'model').map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded'])
  const [lost, done, ...more] = spans.filter(({ kind }) => kind === 'tool')
  expect(more).toEqual([])
  expect(lost).toMatchObject({ ...begun, outcome: 'taken_over', callId: done?.callId })
  expect(done).toMatchObject({ name: 'look', attempt: 2, turn: 1, round: 0, outcome: 'succeeded' })
  expect(done?.worker).not.toBe(lost?.worker)
  expect(lost?.endedAt?.getTime()).toBeLessThanOrEqual(done?.begunAt.getTime() ?? 0)
})
