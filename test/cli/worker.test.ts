/** How a worker process begins and ends. */
import { describe, expect, it } from 'vitest'
import { createDatabase } from '../support/databases.ts'
import { quietPort } from '../support/quiet-port.ts'
import { scrape } from '../support/scrape.ts'
import { linesOf, start, stello, stelloJson, type Running } from './command.ts'
import { AGENT, useServed } from './served.ts'

const served = useServed()
const json = <T = Record<string, unknown>>(...args: string[]): Promise<T[]> => stelloJson<T>(args, { env: served.env })

async function newSession(): Promise<string> {
  const [line] = await json<{ sessionId: string }>('start', served.agent)
  return line?.sessionId ?? ''
}

/** A worker in the middle of its only model call. `asked`: the model calls before it. */
async function inModelCall(): Promise<{
  worker: Running
  asked: number
  release(): void
  /** Waits for the answer, and ends the worker that gave it. @returns how many model calls it took */
  answeredBy(next: Running): Promise<{ calls: number }>
}> {
  const asked = served.model.requests.length
  const worker = await served.startWorker()
  const message = ['send', await newSession(), 'hello', '--message-id', 'm']
  const { release } = served.model.hold()
  await json(...message)
  await served.model.requested(asked + 1)
  return {
    worker,
    asked,
    release,
    async answeredBy(next) {
      expect(await json(...message, '--wait')).toMatchObject([{ text: 'You said: hello' }])
      const calls = served.model.requests.length - asked
      next.kill('SIGTERM')
      expect((await next.ended).code).toBe(0)
      return { calls }
    },
  }
}

describe('a worker', () => {
  it('prints one line of JSON when it serves, and nothing else', async () => {
    const worker = await served.startWorker()
    expect(await worker.line()).toEqual({ ready: true, agent: served.agent, temporal: served.env['TEMPORAL_ADDRESS'] })
    const id = await newSession()
    await json('send', id, 'hello', '--wait')
    worker.kill('SIGINT')
    const { code, stdout, stderr } = await worker.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'finishing what runs …\n' })
    expect(linesOf(stdout)).toHaveLength(1)
  })

  it('serves metrics for Prometheus on the given port', async () => {
    const port = await quietPort()
    const worker = await served.startWorker('--metrics-port', String(port))
    await json('send', await newSession(), 'the weather', '--wait')
    const ran = `stello_tool_executions_total{agent="${served.agent}",outcome="success",tool="weather"}`
    expect((await scrape(port))[ran]).toBe(1)
    worker.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })

  it('says on SIGTERM that it finishes what runs, and does so; another worker goes on without repeating it', async () => {
    const { worker, release, answeredBy } = await inModelCall()
    worker.kill('SIGTERM')
    await worker.printed('finishing what runs')
    release()
    expect((await worker.ended).code).toBe(0)
    expect(await answeredBy(await served.startWorker())).toEqual({ calls: 1 })
  })

  it('hands over what runs longer than the grace time of 10 seconds', async () => {
    const { worker, release, answeredBy } = await inModelCall()
    const began = performance.now()
    worker.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
    expect(performance.now() - began).toBeLessThan(20_000)
    release()
    expect(await answeredBy(await served.startWorker())).toEqual({ calls: 2 })
  })

  it.each<[NodeJS.Signals, NodeJS.Signals]>([
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ])('ends at once on %s and then %s; another goes on at once', async (first, second) => {
    const { worker, release, asked, answeredBy } = await inModelCall()
    const next = await served.startWorker()
    worker.kill(first)
    await worker.printed('finishing what runs')
    worker.kill(second)
    expect(await worker.ended).toMatchObject({ code: null, signal: second })
    await served.model.requested(asked + 2)
    release()
    expect(await answeredBy(next)).toEqual({ calls: 2 })
  })
})

describe('servers that do not answer', () => {
  it.each([
    {
      what: 'Temporal',
      env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
      says: /Temporal at 127\.0\.0\.1:1 does not answer.*\n.*stello server.*TEMPORAL_ADDRESS/,
    },
    {
      what: 'PostgreSQL',
      env: { STELLO_DATABASE_URL: 'postgresql://stello:secret@127.0.0.1:1/stello' },
      says: /PostgreSQL at \S*127\.0\.0\.1:1\S* cannot be used.*\n.*STELLO_DATABASE_URL/,
    },
  ])('$what: a command ends with 1, naming it without its password', async ({ env, says }) => {
    const { code, stdout, stderr } = await stello(['list', '--json'], { env: { ...served.env, ...env } })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(says)
    expect(stderr).not.toMatch(/secret|\n {4}at /)
  })
})

it('a worker with another store than its sessions ends with 1, names both stores and says what to do', async () => {
  // Of this agent it can be handed no other session.
  const agent = `${served.agent}-elsewhere`
  const [line] = await json('start', agent)
  const id = String(line?.['sessionId'])
  const url = served.env['STELLO_DATABASE_URL'] ?? ''
  const other = await createDatabase(url)
  const env = { ...served.env, TEST_AGENT: agent, STELLO_DATABASE_URL: other.url }
  const worker = start(['worker', AGENT, '--json'], { env })
  const { code, stdout, stderr } = await worker.ended
  await other.drop()
  expect(code).toBe(1)
  expect(linesOf(stdout)).toEqual([expect.objectContaining({ ready: true })])
  expect(stderr).toContain(`on the wrong store: it was handed session ${id}`)
  expect(stderr).toContain(new URL(other.url).pathname)
  expect(stderr).toContain('correct STELLO_DATABASE_URL')
  expect(stderr).not.toContain(new URL(url).password)
})
