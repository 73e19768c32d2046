/** Taking over is quick: Temporal waits for nothing that the dead worker had, neither for its attempts nor for its cache. */
import { expect, it } from 'vitest'
import { useFreshStage } from '../support/crash-stage.ts'

const stage = useFreshStage()

/** `WORKFLOW_TASK_TIMED_OUT` and `ACTIVITY_TASK_TIMED_OUT` of Temporal's API. */
const TIMED_OUT = [8, 14]

it('lets nothing of a killed worker run into a time-out', async () => {
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
