/**
 * Temporal takes a step for lost although its worker lives and reaches the store. The next attempt begins beside it.
 * `STELLO_CRASH=all` adds Temporal's own time-out, which takes a minute.
 */
import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { optionalTsToMs } from '@temporalio/common/lib/time.js'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { ask, useStello, type TestAgent } from '../support/session-fixture.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const ALL = process.env['STELLO_CRASH'] === 'all'
const stello = useStello()
const proxies: TcpProxy[] = []

afterAll(async () => {
  for (const proxy of proxies) await proxy.close()
})

interface Scene {
  session: SessionHandle
  turn: TurnHandle
  /** The proxy between Temporal and the worker that runs the tool. */
  proxy: TcpProxy
  /** The gate where the tool waits. */
  door: Gate
  /** The gate that is entered when the SDK has told the first attempt that it is over. */
  told: Gate
}

/**
 * A turn in the middle of a tool that must not be repeated. The next attempt goes to the same worker, or to another
 * one.
 */
async function openScene(next: 'the same worker' | 'another worker'): Promise<Scene> {
  const [door, told] = [createGate(), createGate()]
  const pay = tool('pay', 'Pays', z.object({}), async (_, { signal }) => {
    Context.current().cancellationSignal.addEventListener('abort', () => void told.pass())
    await door.pass()
    return signal.aborted ? 'was stopped' : 'paid'
  })
  const agent: TestAgent = {
    llm: scriptedModel(
      replyBy([
        ['pay', { toolCalls: [{ name: 'pay' }] }],
        [() => true, 'done'],
      ]),
    ),
    capabilities: { tools: [pay] },
  }
  const proxy = await startTcpProxy(stello.servers.temporalAddress)
  proxies.push(proxy)
  const alone = next === 'the same worker'
  const { taskQueue } = await stello.work(agent, {
    temporalAddress: proxy.address,
    // The worker runs one tool at a time. Two of its four places are beside the models, and there the step is tried
    // again.
    concurrency: { tools: alone ? 4 : 1 },
  })
  const session = await stello.client.createSession({ agent: taskQueue })
  const turn = await session.send('pay')
  await door.reached()
  if (!alone) await stello.work({ ...agent, name: taskQueue })
  return { session, turn, proxy, door, told }
}

/** Temporal does not hear of the step until its heartbeat time-out. */
async function cutOff({ session, proxy }: Scene): Promise<void> {
  proxy.refuse(true)
  proxy.cut()
  await nextAttemptWaits(session)
  proxy.refuse(false)
}

/** Any client may end an attempt by its token. */
async function fail({ session }: Scene): Promise<void> {
  const { rows } = await stello.db.pool.query<{ token: Buffer }>(
    `select token from steps where session_id = $1 and step_key = 't1.0.0'`,
    [session.id],
  )
  const failure = ApplicationFailure.create({ message: 'thought lost', nextRetryDelay: 1 })
  await stello.client.temporal.activity.fail(new Uint8Array(rows[0]?.token ?? []), failure)
  await nextAttemptWaits(session)
}

async function nextAttemptWaits({ id }: SessionHandle): Promise<void> {
  await until('the next attempt is heard of', async () => {
    const { raw } = await stello.client.temporal.workflow.getHandle(id).describe()
    const [step] = raw.pendingActivities ?? []
    const [begun, heard] = [step?.lastStartedTime, step?.lastHeartbeatTime].map(optionalTsToMs)
    return Number(step?.attempt) > 1 && begun !== undefined && heard !== undefined && heard > begun
  })
}

describe('beside a step that Temporal thinks lost, the next attempt', () => {
  it.each([
    ...(ALL ? [['another worker', 'it was not heard of for a minute', cutOff] as const] : []),
    ['another worker', 'somebody failed it', fail] as const,
    ['the same worker', 'somebody failed it', fail] as const,
  ])('at %s, since %s, gets its result, and the tool is not stopped', async (next, _why, lose) => {
    const scene = await openScene(next)
    await lose(scene)
    await scene.told.reached()
    scene.door.open()
    expect((await scene.turn.result()).text).toBe('done')
    expect((await scene.session.transcript()).at(-2)).toMatchObject({ role: 'tool', name: 'pay', content: 'paid' })
    expect(scene.door.arrived).toBe(1)
  })

  it('at another worker hears of a cancel while it waits', async () => {
    const scene = await openScene('another worker')
    await fail(scene)
    await scene.session.cancelTurn()
    expect(await scene.turn.result()).toMatchObject({ stopReason: 'cancelled' })
    const { events } = await stello.client.temporal.workflow.getHandle(scene.session.id).fetchHistory()
    expect(events?.filter((event) => event.activityTaskCanceledEventAttributes)).toHaveLength(1)
    scene.door.open()
    expect(await ask(scene.session, 'and now?')).toBe('done')
    const results = (await scene.session.transcript()).filter(({ role }) => role === 'tool')
    expect(results.map(({ content }) => content.split(':')[0])).toEqual(['TOOL_CANCELLED'])
    expect(scene.door.arrived).toBe(1)
  })
})
