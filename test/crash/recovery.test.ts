/** A take-over is quick. Temporal waits neither for the attempts of the dead worker nor for its cache. */
import { expect, it } from 'vitest'
import { useFreshStage } from '../support/crash-stage.ts'

const stage = useFreshStage()

/** `WORKFLOW_TASK_TIMED_OUT` and `ACTIVITY_TASK_TIMED_OUT` in Temporal's API. */
const TIMED_OUT = [8, 14]

it('no attempt and no task of a killed worker runs into a time-out', async () => {
  const [victim, survivor] = [await stage.startWorker(), await stage.startWorker()]
  const session = await stage.session()
  const turn = await session.send('look')
  await stage.doors.knocked(1)
  const dead = stage.doors.knocks[0]?.pid === victim.pid ? victim : survivor
  await dead.kill()
  await stage.doors.knocked(2)
  stage.door.open()
  expect((await turn.result()).text).toBe('done after 1')
  const { events } = await stage.client.temporal.workflow.getHandle(session.id).fetchHistory()
  expect((events ?? []).filter(({ eventType }) => TIMED_OUT.includes(eventType as number))).toEqual([])
})
