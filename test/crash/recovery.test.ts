/** A take-over is quick. Temporal waits neither for the attempts of the dead worker nor for its cache. */
import { expect, it } from 'vitest'
import { useFreshStage } from '../support/crash-stage.ts'

const stage = useFreshStage()

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
  const all = events ?? []
  expect(all.filter((event) => event.activityTaskTimedOutEventAttributes)).toEqual([])
  // A task that its own worker has left lying for a second, since the machine is busy, is another thing.
  const scheduled = all.flatMap(({ workflowTaskTimedOutEventAttributes: one }) => Number(one?.scheduledEventId ?? []))
  const queues = scheduled.map((id) => all[id - 1]?.workflowTaskScheduledEventAttributes?.taskQueue?.name)
  expect(queues.filter((name) => name?.startsWith(`${dead.pid}@`))).toEqual([])
})
