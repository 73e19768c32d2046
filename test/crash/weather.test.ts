/** A worker is killed while its sessions wait for a provider, or while another provider takes its place. */
import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { startFakeOpenAI } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess, type WorkerProcess } from '../support/crashing.ts'
import { eventsUntil, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'
import { startWeatheredProvider } from '../support/weathered-provider.ts'

const stello = useStello()

/** Workers of one agent. Each of them can be killed. */
async function agentOf(urls: {
  modelUrl: string
  standInUrl?: string
}): Promise<{ agent: string; start(): Promise<WorkerProcess> }> {
  const doors = await startDoors()
  onTestFinished(() => doors.close())
  const agent = `crash-${randomBytes(4).toString('hex')}`
  return {
    agent,
    async start() {
      const worker = await startWorkerProcess({ agent, ...stello.servers, ...urls, gateUrl: doors.url })
      onTestFinished(() => worker.kill())
      return worker
    },
  }
}

it('killed while a session waits for its provider: the next worker waits on and knows since when, and no death counts', async () => {
  const provider = await startWeatheredProvider({ script: () => 'Hello.' })
  onTestFinished(() => provider.close())
  provider.away({ status: 503 })
  const { agent, start } = await agentOf({ modelUrl: provider.url })
  const session = await stello.client.createSession({ agent })
  let worker = await start()
  const turn = await session.send('Hi')
  const since: (number | undefined)[] = []
  // One more than the deaths after which a step is not run again.
  for (let kills = 0; kills < 4; kills++) {
    const asked = provider.requests.length
    const { weather } = await until('the session waits', async () => {
      const state = await session.state()
      return provider.requests.length > asked - (kills === 0 ? asked : 0) && state.weather && state
    })
    since.push(weather?.since.getTime())
    await worker.kill()
    worker = await start()
  }
  expect(new Set(since).size).toBe(1)
  const { rows } = await stello.db.pool.query('select deaths from steps where session_id = $1', [session.id])
  expect(rows).toEqual([{ deaths: 0 }])
  provider.away()
  expect((await turn.result()).text).toBe('Hello.')
  const types = (await eventsUntil(session, ({ type }) => type === 'turn.completed')).map(({ type }) => type)
  expect(types.filter((type) => type !== 'model.waiting')).toEqual([
    'turn.started',
    'message.completed',
    'turn.completed',
  ])
  expect(types.filter((type) => type === 'model.waiting').length).toBeLessThanOrEqual(1)
  expect((await session.transcript()).map(({ content }) => content)).toEqual(['Hi', 'Hello.'])
})

it('killed while another provider takes the place of the first: the next worker asks that one too, and the record has one answer', async () => {
  const provider = await startWeatheredProvider({ script: () => 'From the first.' })
  const standIn = await startFakeOpenAI({ script: () => 'From the stand-in.' })
  onTestFinished(async () => void (await Promise.all([provider.close(), standIn.close()])))
  provider.away({ status: 529 })
  const { agent, start } = await agentOf({ modelUrl: provider.url, standInUrl: standIn.url })
  const session = await stello.client.createSession({ agent })
  const killed = await start()
  const held = standIn.hold()
  const turn = await session.send('Hi')
  await held.reached
  await killed.kill()
  held.release()
  await start()
  expect((await turn.result()).text).toBe('From the stand-in.')
  expect((await session.transcript()).map(({ content, model }) => [content, model])).toEqual([
    ['Hi', undefined],
    ['From the stand-in.', 'stand-in'],
  ])
  expect(standIn.requests).toHaveLength(2)
  provider.away()
  await until('the first answers again', async () => {
    return (await (await session.send('again')).result()).text === 'From the first.'
  })
})
