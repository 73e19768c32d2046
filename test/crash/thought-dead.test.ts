/**
 * A living worker that is taken for dead. Its steps are taken over although it goes on with them. This costs at most a
 * repetition: whatever the worker still does changes nothing. Other tests here show what must not make a worker look
 * dead.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import type { ChatRequest, FakeRequest } from '../../src/testing/index.ts'
import { isAlive } from '../../src/store/ledger/liveness.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import type { WorkerProcess } from '../support/crashing.ts'
import { lookedForTheDead } from '../support/looked-for-the-dead.ts'
import { expectUndisturbed, readStory } from '../support/story.ts'
import { startProxyBefore, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const stage = useCrashStage()
/** `PENDING_ACTIVITY_STATE_CANCEL_REQUESTED` in Temporal's API. */
const CANCEL_REQUESTED = 3
const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function startWorker(settings?: Parameters<typeof stage.startWorker>[0]): Promise<WorkerProcess> {
  const worker = await stage.startWorker(settings)
  closing.push(() => worker.kill())
  return worker
}

interface Suspect {
  /** The server frees its lock, and the worker cannot take it again. */
  looksDead(): Promise<void>
  looksAlive(): Promise<void>
  temporal: TcpProxy
}

/** The worker takes one step of a kind at a time, so a step that is taken over goes to another worker. */
async function startSuspect(): Promise<Suspect> {
  const { proxy: store, url } = await startProxyBefore(stage.servers.databaseUrl)
  const temporal = await startTcpProxy(stage.servers.temporalAddress)
  closing.push(
    () => store.close(),
    () => temporal.close(),
  )
  await startWorker({ databaseUrl: url, temporalAddress: temporal.address, concurrency: { models: 1, tools: 1 } })
  const { rows } = await stage.db.pool.query<{ boot_id: string }>(
    'select boot_id from workers order by started_at desc limit 1',
  )
  const bootId = rows[0]?.boot_id
  return {
    temporal,
    async looksDead() {
      store.refuse(true)
      // Of all locks, the one with the name of the worker.
      await stage.db.pool.query(
        `select pg_terminate_backend(pid, 10000) from pg_locks where locktype = 'advisory'
         and (classid::bigint << 32 | objid::bigint) = $1::bigint`,
        [bootId],
      )
    },
    async looksAlive() {
      store.refuse(false)
      // The others have forgotten the worker that they took for dead. They must notice when it really dies.
      await until('the worker is known again', async () => {
        const known = await stage.db.pool.query('select from workers where boot_id = $1', [bootId])
        return known.rows.length > 0
      })
      await until('the lock is taken again', () => isAlive(stage.db, bootId ?? '', { graceMs: 0 }))
    },
  }
}

const asks =
  ({ id }: SessionHandle, step: string) =>
  ({ headers }: FakeRequest<ChatRequest>): boolean =>
    String(headers['idempotency-key']).startsWith(`${id}:${step}:`)

async function say(session: SessionHandle, ...messages: string[]): Promise<void> {
  for (const messageId of messages) await (await session.send(messageId, { messageId })).result()
}

describe('a step that is taken over from a living worker', () => {
  it('is asked again if it is a model call, and the late answer counts for nothing', async () => {
    const suspect = await startSuspect()
    const twin = await stage.session()
    await say(twin, 'hello', 'next', 'more')

    const session = await stage.session()
    let arrived = 0
    const first = stage.fake.hold((request) => asks(session, 'm1.0')(request) && ++arrived === 1)
    const turn = await session.send('hello', { messageId: 'hello' })
    await first.reached
    await suspect.looksDead()
    const other = await startWorker()
    await turn.result()
    await say(session, 'next')
    first.release()
    await suspect.looksAlive()
    await other.kill()
    // The worker takes one step at a time. That it answers shows that it is done with the step that was taken from it.
    await say(session, 'more')
    expectUndisturbed(await readStory(stage, session), await readStory(stage, twin), { asked: { 'main m1.0': 1 } })
  })

  it('is not repeated if it is a tool with an effect, and its late result counts for nothing', async () => {
    const suspect = await startSuspect()
    const twin = await stage.session()
    await say(twin, 'pay', 'next', 'more')

    const session = await stage.session()
    const shut = stage.doors.hold(({ key }) => key.startsWith(session.id))
    const turn = await session.send('pay', { messageId: 'pay' })
    await shut.reached()
    await suspect.looksDead()
    const other = await startWorker()
    await turn.result()
    await say(session, 'next')
    shut.open()
    await suspect.looksAlive()
    await other.kill()
    await say(session, 'more')
    expectUndisturbed(await readStory(stage, session), await readStory(stage, twin), { unknown: 'pay' })
  })

  it('stays cancelled when its model answers after the cancel and after the next message', async () => {
    const suspect = await startSuspect()
    const twin = await stage.session()
    const begun = stage.fake.hold(asks(twin, 'm1.0'))
    const stopped = await twin.send('hello', { messageId: 'hello' })
    await begun.reached
    await twin.cancelTurn()
    await stopped.result()
    begun.release()
    await say(twin, 'next', 'more')

    const session = await stage.session()
    const first = stage.fake.hold(asks(session, 'm1.0'))
    const turn = await session.send('hello', { messageId: 'hello' })
    await first.reached
    // The worker must not hear of the cancel, because it would obey.
    suspect.temporal.hold()
    const other = await startWorker()
    await session.cancelTurn()
    await until('the cancel waits for the worker that does not hear it', async () => {
      const { raw } = await stage.client.temporal.workflow.getHandle(session.id).describe()
      return raw.pendingActivities?.some(({ state }) => state === CANCEL_REQUESTED)
    })
    await suspect.looksDead()
    expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
    await say(session, 'next')
    first.release()
    suspect.temporal.release()
    await suspect.looksAlive()
    await other.kill()
    await say(session, 'more')
    expectUndisturbed(await readStory(stage, session), await readStory(stage, twin))
  })
})

describe('a worker', () => {
  it('does not take over its own steps while its lock is free', async () => {
    const suspect = await startSuspect()
    const twin = await stage.session()
    await say(twin, 'pay')
    const session = await stage.session()
    const shut = stage.doors.hold(({ key }) => key.startsWith(session.id))
    const turn = await session.send('pay', { messageId: 'pay' })
    await shut.reached()
    await suspect.looksDead()
    await lookedForTheDead(stage.db)
    await suspect.looksAlive()
    shut.open()
    await turn.result()
    expectUndisturbed(await readStory(stage, session), await readStory(stage, twin))
  })

  it('whose event loop is blocked by a tool keeps its step', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stello-block-'))
    closing.push(() => rm(folder, { recursive: true }))
    const file = join(folder, 'end')
    await startWorker()
    const session = await stage.session()
    const shut = stage.doors.hold(({ key }) => key.startsWith(session.id))
    const turn = await session.send(`block #${file}`)
    await shut.reached()
    shut.open()
    const other = await startWorker()
    await lookedForTheDead(stage.db)
    await writeFile(file, '')
    expect((await turn.result()).text).toBe('done after 1')
    await other.kill()
    expect((await session.transcript())[2]).toMatchObject({ name: 'block', content: 'block done' })
    expect((await readStory(stage, session)).called).toEqual({ 'main t1.0.0': 1 })
  })

  it('takes nothing from a tool that ignores its abort and ends after its time-out was settled', async () => {
    await startWorker()
    const hang = stage.doors.hold(({ tool }) => tool === 'hang')
    const stories = []
    for (const late of [false, true]) {
      const session = await stage.session()
      const turn = await session.send('hang', { messageId: 'hang' })
      await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
      if (late) hang.open()
      await session.resume()
      await turn.result()
      await say(session, 'next')
      stories.push(await readStory(stage, session))
    }
    const [undisturbed, disturbed] = stories
    if (!undisturbed || !disturbed) throw new Error('two stories were expected')
    expectUndisturbed(disturbed, undisturbed)
    expect(undisturbed.called).toEqual({ 'main t1.0.0': 1, 'main t1.1.0': 1, 'main t1.2.0': 1 })
  })
})
