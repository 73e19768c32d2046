/**
 * PostgreSQL has no connection left, and the connection is cut that shows that a worker lives. The worker keeps the
 * steps that it has in hand.
 */
import { afterEach, expect, it } from 'vitest'
import { useCrashStage } from '../support/crash-stage.ts'
import { lookedForTheDead } from '../support/looked-for-the-dead.ts'
import { quietPort } from '../support/quiet-port.ts'
import { scrape } from '../support/scrape.ts'
import { startProxyBefore, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const stage = useCrashStage()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  await stage.killWorkers()
  for (const close of closing.splice(0)) await close()
})

async function proxied(): Promise<{ proxy: TcpProxy; url: string }> {
  const before = await startProxyBefore(stage.servers.databaseUrl)
  closing.push(() => before.proxy.close())
  return before
}

/** Those of the worker that started last. */
async function cutLock(which?: 'one'): Promise<void> {
  await stage.db.pool.query(
    `select pg_terminate_backend(pid, 10000) from pg_locks
     where locktype = 'advisory' and (classid::bigint << 32 | objid::bigint) =
       (select boot_id::bigint from workers order by started_at desc limit 1)
     limit $1`,
    [which && 1],
  )
}

it('a payment is not taken over from a worker that loses a connection and gets none again', async () => {
  const { proxy, url } = await proxied()
  const metricsPort = await quietPort()
  await stage.startWorker({ databaseUrl: url, metricsPort })
  const session = await stage.session()
  const gate = stage.doors.hold(({ tool }) => tool === 'pay')
  const turn = await session.send('pay #1')
  await gate.reached()
  proxy.refuse(true)
  await cutLock('one')
  await until('its place is gone', async () => proxy.refusals() > 2)
  const told = await scrape(metricsPort)
  expect(told[`stello_liveness_losses_total{agent="${stage.agent}"}`]).toBe(1)
  expect(told[`stello_liveness_held{agent="${stage.agent}"}`]).toBe(1)

  await stage.startWorker()
  await lookedForTheDead(stage.db)
  gate.open()
  expect((await turn.result()).text).toBe('done after 1')
  const results = (await session.transcript()).filter(({ role }) => role === 'tool')
  expect(results.map(({ content }) => content)).toEqual(['pay done'])
  expect(stage.doors.knocks.filter(({ tool }) => tool === 'pay')).toHaveLength(1)
})

it('a worker that has lost both connections begins no payment: another worker makes it, once', async () => {
  const { proxy, url } = await proxied()
  const first = await stage.startWorker({ databaseUrl: url })
  const session = await stage.session()
  expect((await (await session.send('hello')).result()).text).toBe('answer to hello')
  proxy.refuse(true)
  await cutLock()
  const turn = await session.send('pay #2')
  const second = await stage.startWorker()
  expect((await turn.result()).text).toBe('done after 1')
  const paid = stage.doors.knocks.filter(({ tag }) => tag === '#2')
  expect(paid.map(({ pid }) => pid)).toEqual([second.pid])
  expect(first.pid).not.toBe(second.pid)
})
