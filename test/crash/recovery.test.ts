/** Taking over is quick: Temporal waits for nothing that the dead worker had, neither for its attempts nor for its cache. */
import { randomBytes } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { replyBy, startFakeOpenAI } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess, type WorkerProcess } from '../support/crashing.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()
const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** `WORKFLOW_TASK_TIMED_OUT` and `ACTIVITY_TASK_TIMED_OUT` of Temporal's API. */
const TIMED_OUT = [8, 14]

it('lets nothing of a killed worker run into a time-out', async () => {
  const agent = `recovery-${randomBytes(4).toString('hex')}`
  const doors = await startDoors()
  const held = doors.hold()
  const fake = await startFakeOpenAI({
    script: replyBy([
      ['look', { toolCalls: [{ name: 'look' }] }],
      [() => true, 'seen'],
    ]),
  })
  closing.push(
    () => doors.close(),
    () => fake.close(),
  )
  const serve = async (): Promise<WorkerProcess> => {
    const worker = await startWorkerProcess({ agent, ...stello.servers, modelUrl: fake.url, gateUrl: doors.url })
    closing.push(() => worker.kill())
    return worker
  }
  const [victim, survivor] = [await serve(), await serve()]
  const session = await stello.client.createSession({ agent })
  const turn = await session.send('look')
  await doors.knocked(1)
  const dead = doors.knocks[0]?.pid === victim.pid ? victim : survivor
  await dead.kill()
  await doors.knocked(2)
  held.open()
  expect((await turn.result()).text).toBe('seen')
  const { events } = await stello.client.temporal.workflow.getHandle(session.id).fetchHistory()
  expect((events ?? []).filter(({ eventType }) => TIMED_OUT.includes(eventType as number))).toEqual([])
})
