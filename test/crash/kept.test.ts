/**
 * The state of a session outlives its worker: paused, waiting for a child, about to start one, served by two workers.
 */
import { afterEach, describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { onlyChild } from '../support/forks.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import type { WorkerProcess } from '../support/crashing.ts'
import { eventOf } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'
import { expectUndisturbed, readStory } from '../support/story.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const stage = useCrashStage()
afterEach(() => stage.killWorkers())

type Disturb = () => Promise<void>

/** Does the same with two sessions. Nobody disturbs the first one. */
async function both(
  act: (session: SessionHandle, disturb: Disturb) => Promise<void>,
): Promise<[disturbed: SessionHandle, undisturbed: SessionHandle]> {
  const worker = await stage.startWorker()
  const [twin, session] = [await stage.session(), await stage.session()]
  await act(twin, async () => undefined)
  await act(session, async () => {
    await worker.kill()
    await stage.startWorker()
  })
  return [session, twin]
}

describe('a paused session', () => {
  it('stays paused, and answers after the resume what was sent meanwhile', async () => {
    const [session, twin] = await both(async (each, disturb) => {
      await each.pause('lunch')
      const turn = await each.send('look', { messageId: 'look' })
      await eventOf(each, 'session.paused')
      await disturb()
      const view = await viewOf(stage.client, each, ({ queued }) => queued === 1)
      expect(view).toMatchObject({ status: 'paused', pause: { message: 'lunch' } })
      await each.resume()
      await turn.result()
    })
    expectUndisturbed(await readStory(stage, session), await readStory(stage, twin))
  })

  it.each([
    ['repeats a tool that may be repeated only after the resume', 'look', { called: { 'main t1.0.0': 1 } }],
    ['never repeats a tool with an effect', 'pay', { unknown: 'pay' }],
  ])('%s', async (_what, word, differences) => {
    const [session, twin] = await both(async (each, disturb) => {
      const shut = stage.doors.hold(({ key }) => key.startsWith(each.id))
      const turn = await each.send(word, { messageId: word })
      await shut.reached()
      await each.pause()
      await eventOf(each, 'session.paused')
      const before = stage.doors.knocks.length
      await disturb()
      shut.open()
      // Without a kill the call ends although the session is paused. After a kill it is due again.
      await viewOf(stage.client, each, ({ turn: open }) => !open?.calls.some(({ status }) => status === 'running'))
      expect(stage.doors.knocks).toHaveLength(before)
      await each.resume()
      await turn.result()
    })
    expectUndisturbed(await readStory(stage, session), await readStory(stage, twin), {
      ...differences,
      order: 'of events may differ',
    })
  })
})

describe('a fork', () => {
  it('that Temporal knows but the workflow does not know yet is started by the next worker', async () => {
    const temporal = await startTcpProxy(stage.servers.temporalAddress)
    const worker = await stage.startWorker({ temporalAddress: temporal.address })
    const [twin, session] = [await stage.session(), await stage.session()]
    const shut = stage.doors.hold(({ key }) => key === session.id)
    const turns = [twin, session].map((each) => each.send('fork', { messageId: 'fork' }))
    await (await turns[0])?.result()
    await shut.reached()
    temporal.hold()
    shut.open()
    await until('Temporal hears of the fork', async () => {
      const { raw } = await stage.client.temporal.workflow.getHandle(session.id).describe()
      return (raw.pendingActivities ?? []).length === 0
    })
    await worker.kill()
    await stage.startWorker()
    await (await turns[1])?.result()
    for (const each of [twin, session]) {
      const child = await onlyChild(stage.client, each)
      await (await child.send('hello', { messageId: 'hello' })).result()
    }
    expectUndisturbed(await readStory(stage, session), await readStory(stage, twin))
    await temporal.close()
  })
})

describe('a child that is terminated in Temporal while its parent waits', () => {
  it.each(['before', 'after'] as const)('and the worker dies %s: the model reads an error', async (when) => {
    const worker = await stage.startWorker()
    const session = await stage.session()
    const held = stage.fake.hold(({ body }) => body.messages.at(-1)?.content === `look #${when}`)
    const turn = await session.send(`task #${when}`)
    await held.reached
    const child = await onlyChild(stage.client, session)
    const recorded = await stage.holds.hold({ session: session.id, step: 't1.0.0', moment: 'settle' })
    const terminate = () => stage.client.temporal.workflow.getHandle(child.id).terminate()
    if (when === 'before') await worker.kill()
    await terminate()
    if (when === 'after') {
      await recorded.reached()
      await worker.kill()
    }
    await recorded.drop()
    held.release()
    await stage.startWorker()
    expect((await turn.result()).text).toBe('done after 1')
    const transcript = await session.transcript()
    expect(transcript.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(transcript[2]).toMatchObject({
      isError: true,
      content: expect.stringMatching(/^TOOL_EXECUTION_ERROR.*ended abnormally/) as string,
    })
    const asked = stage.fake.requests.filter(({ headers }) => String(headers['idempotency-key']).startsWith(session.id))
    expect(asked).toHaveLength(2)
    expect(await child.transcript()).toHaveLength(1)
  })
})

describe('of two workers, the one that lives', () => {
  it('takes over the steps of the other one, and its own steps go on undisturbed', async () => {
    const pair = [await stage.startWorker(), await stage.startWorker()]
    const twin = await stage.session()
    await (await twin.send('both', { messageId: 'both' })).result()
    const undisturbed = await readStory(stage, twin)

    const before = stage.doors.knocks.length
    const shut = stage.doors.hold()
    const sessions: SessionHandle[] = []
    const holders = (tool: string): Set<number> =>
      new Set(stage.doors.knocks.slice(before).flatMap((knock) => (knock.tool === tool ? [knock.pid] : [])))
    // Temporal gives the calls to any worker, so the test goes on until each worker has both.
    while (holders('look').size < 2 || holders('pay').size < 2) {
      const session = await stage.session()
      sessions.push(session)
      await session.send('both', { messageId: 'both' })
      await shut.reached(2 * sessions.length)
    }
    const [victim, survivor] = pair as [WorkerProcess, WorkerProcess]
    const first = stage.doors.knocks.slice(before)
    const lost = first.filter(({ pid, tool }) => pid === victim.pid && tool === 'look')
    await victim.kill()
    await shut.reached(2 * sessions.length + lost.length)
    const again = stage.doors.knocks.slice(before + first.length)
    expect(again.map(({ pid, tool }) => ({ pid, tool }))).toEqual(lost.map(() => ({ pid: survivor.pid, tool: 'look' })))
    shut.open()
    for (const session of sessions) {
      await session.turn('both').result()
      const [look, pay] = ['look', 'pay'].map((tool) =>
        first.find((knock) => knock.tool === tool && knock.key.startsWith(`${session.id}:`)),
      )
      expectUndisturbed(await readStory(stage, session), undisturbed, {
        ...(look?.pid === victim.pid && { called: { 'main t1.0.0': 1 } }),
        ...(pay?.pid === victim.pid && { unknown: 'pay' }),
      })
    }
  })
})
