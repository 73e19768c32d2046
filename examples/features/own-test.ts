/**
 * A test of your own agent, on real servers: Temporal and PostgreSQL, which are started for the test and removed after
 * it. In your own project, put the body into an `it(…)` of Vitest or another test runner.
 *
 * Try it: `node --import tsx examples/features/own-test.ts`.
 */
import assert from 'node:assert/strict'
import { connectStello } from 'stello-temporal/client'
import { startTestServers } from 'stello-temporal/testing'
import { startWorker } from 'stello-temporal/worker'
import agent from './tool.ts'

export async function testTheWeather(): Promise<void> {
  const servers = await startTestServers()
  const worker = await startWorker({ agent, ...servers })
  const stello = await connectStello(servers)
  try {
    const session = await stello.createSession({ agent: agent.name })
    const turn = await session.send('Weather in Oslo?')
    assert.equal((await turn.result()).text, 'It rains in Oslo.')
    const called = (await session.transcript()).filter(({ role }) => role === 'tool').map(({ name }) => name)
    assert.deepEqual(called, ['get_weather'])
  } finally {
    await stello.close()
    await worker.stop()
    await servers.stop()
  }
}

if (process.argv[1]?.endsWith('own-test.ts')) await testTheWeather()
