/** A worker is killed between the reasoning of an OpenAI model and the call that follows from it. */
import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { startFakeResponses } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess } from '../support/crashing.ts'
import { eventsUntil, useStello } from '../support/session-fixture.ts'
import { callPieces, streamingModel } from '../support/streaming-model.ts'

const stello = useStello()

it('leaves no half answer: the call goes back with the reasoning of its own answer', async () => {
  const llm = streamingModel([
    { type: 'reasoning', text: 'I should look.' },
    ...callPieces('look', ['{"tag":', '"sky"}']),
  ])
  const fake = await startFakeResponses({ model: llm })
  const doors = await startDoors()
  onTestFinished(async () => void (await Promise.all([fake.close(), doors.close()])))
  const agent = `crash-${randomBytes(4).toString('hex')}`
  const settings = { agent, ...stello.servers, modelUrl: fake.url, gateUrl: doors.url, api: 'responses' as const }
  const killed = await startWorkerProcess(settings)
  onTestFinished(() => killed.kill())
  const session = await stello.client.createSession({ agent })
  const turn = await session.send('go')
  llm.gates[0]?.open()
  await eventsUntil(session, ({ type }) => type === 'reasoning.delta', { live: true })
  await killed.kill()

  const worker = await startWorkerProcess(settings)
  onTestFinished(() => worker.kill())
  llm.open()
  // The server would refuse a call without its reasoning, and reasoning without what follows it.
  expect((await turn.result()).text).toBe('read look done')
  expect(fake.requests.at(-1)?.body.input).toMatchObject([
    { role: 'user' },
    { type: 'reasoning', id: 'rs_2' },
    { type: 'function_call', name: 'look' },
    { type: 'function_call_output', output: 'look done' },
  ])
})
