/** No rule of ours reads a wall clock: a worker whose clock jumps does the same as any other, also when it is killed. */
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { replyBy, startFakeOpenAI } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess, type WorkerProcess } from '../support/crashing.ts'
import { eventsUntil, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const JUMPING = fileURLToPath(new URL('../support/jumping-clock.mjs', import.meta.url))
const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

it('serves, is taken over from, and takes over, with a clock that jumps a day and a half forward and back', async () => {
  const agent = `clock-${randomBytes(4).toString('hex')}`
  const doors = await startDoors()
  const held = doors.hold()
  const fake = await startFakeOpenAI({
    script: replyBy([
      ['look', { toolCalls: [{ name: 'look' }] }],
      [({ role }) => role === 'tool', 'seen'],
      [() => true, 'hello'],
    ]),
  })
  closing.push(
    () => doors.close(),
    () => fake.close(),
  )
  const serve = async (...preloads: string[]): Promise<WorkerProcess> => {
    const settings = { agent, ...stello.servers, modelUrl: fake.url, gateUrl: doors.url }
    const worker = await startWorkerProcess(settings, preloads)
    closing.push(() => worker.kill())
    return worker
  }
  const jumping = await serve(JUMPING)
  const session = await stello.client.createSession({ agent })
  const first = await session.send('hello')
  expect((await first.result()).text).toBe('hello')
  const second = await session.send('look')
  await doors.knocked(1)
  await jumping.kill()
  const steady = await serve()
  await doors.knocked(2)
  await steady.kill()
  await serve(JUMPING)
  await doors.knocked(3)
  held.open()
  expect((await second.result()).text).toBe('seen')
  expect(fake.requests).toHaveLength(3)
  const events = await eventsUntil(session, ({ type, data }) => type === 'turn.completed' && data['turn'] === 2)
  const looked = events.find(({ type }) => type === 'tool.status')
  expect(looked?.data['durationMs']).toBeGreaterThanOrEqual(0)
  expect(looked?.data['durationMs']).toBeLessThan(60_000)
})
