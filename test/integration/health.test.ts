/** What a worker process says about itself over HTTP, beside its metrics. */
import { afterEach, expect, it } from 'vitest'
import { scriptedModel } from '../../src/testing/index.ts'
import { quietPort } from '../support/quiet-port.ts'
import { useStello } from '../support/session-fixture.ts'
import { startProxyBefore, startTcpProxy } from '../support/tcp-proxy.ts'

const stello = useStello()
const closing: (() => Promise<unknown>)[] = []
afterEach(() => Promise.all(closing.splice(0).map((close) => close())))

const ask = async (port: number, path: string): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const problems = async (port: number): Promise<string> => {
  const workers = (await ask(port, '/readyz')).body['workers'] as { problems: string[] }[]
  return workers.flatMap((worker) => worker.problems).join()
}

it('says that the process lives, how its loop lags, and how its worker stands', async () => {
  const metricsPort = await quietPort()
  const worker = await stello.work({ llm: scriptedModel([]) }, { metricsPort })
  expect(await ask(metricsPort, '/healthz')).toEqual({ status: 200, body: { ok: true, loopLagMs: expect.any(Number) } })
  await expect
    .poll(() => ask(metricsPort, '/readyz'), { timeout: 20_000 })
    .toEqual({
      status: 200,
      body: {
        ok: true,
        workers: [
          {
            agent: worker.taskQueue,
            problems: [],
            store: 'ok',
            lock: true,
            lastPollSeconds: expect.any(Number),
            slots: expect.objectContaining({ models: { inUse: 0, of: 100 } }),
          },
        ],
      },
    })
  expect((await ask(metricsPort, '/else')).status).toBe(404)
  await worker.stop()
  await expect(fetch(`http://127.0.0.1:${metricsPort}/healthz`)).rejects.toThrow()
})

it('answers only on this machine, unless it is given another address', async () => {
  // On Linux every address of 127.0.0.0/8 belongs to this machine. One that was not given stands for any other
  // interface.
  const elsewhere = (port: number): Promise<Response> => fetch(`http://127.0.0.2:${port}/healthz`)
  const [quiet, open] = [await quietPort(), await quietPort()]
  const worker = await stello.work({ llm: scriptedModel([]) }, { metricsPort: quiet })
  expect((await ask(quiet, '/healthz')).status).toBe(200)
  await expect(elsewhere(quiet)).rejects.toThrow()
  await worker.stop()
  await stello.work({ llm: scriptedModel([]) }, { metricsPort: open, metricsHost: '0.0.0.0' })
  expect((await elsewhere(open)).status).toBe(200)
})

it('is alive but not ready when it cannot reach the store or Temporal, and says which', async () => {
  const store = await startProxyBefore(stello.servers.databaseUrl)
  const temporal = await startTcpProxy(stello.servers.temporalAddress)
  closing.push(
    () => store.proxy.close(),
    () => temporal.close(),
  )
  const metricsPort = await quietPort()
  const through = { metricsPort, databaseUrl: store.url, temporalAddress: temporal.address }
  await stello.work({ llm: scriptedModel([]) }, through)
  await expect.poll(() => ask(metricsPort, '/readyz'), { timeout: 20_000 }).toMatchObject({ status: 200 })
  store.proxy.refuse(true)
  store.proxy.cut()
  await expect.poll(() => problems(metricsPort), { timeout: 20_000 }).toContain('the store does not answer')
  expect((await ask(metricsPort, '/readyz')).status).toBe(503)
  expect((await ask(metricsPort, '/healthz')).status).toBe(200)
  store.proxy.refuse(false)
  await expect.poll(() => ask(metricsPort, '/readyz'), { timeout: 20_000 }).toMatchObject({ status: 200 })
  temporal.hold()
  await expect.poll(() => problems(metricsPort), { timeout: 20_000 }).toContain('Temporal does not answer')
  temporal.release()
})
