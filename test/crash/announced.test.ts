/**
 * A worker is killed around facts that no model asked for: a pause, a resume, a close, the end of a cancelled turn, a
 * question to a person and its answer, a client's fork. Each is stored once, and told once.
 */
import { afterEach, describe, expect, it } from 'vitest'
import type { InboxQuestion, SessionHandle } from '../../src/client/index.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import type { WorkerProcess } from '../support/crashing.ts'
import type { HeldStep } from '../support/ledger-holds.ts'
import { eventOf, eventsUntil } from '../support/session-fixture.ts'
import { expectUndisturbed, readStory } from '../support/story.ts'

const stage = useCrashStage()
afterEach(() => stage.killWorkers())

type LastWord = 'drop' | 'letThrough'
const WHEN = [
  ['before that is stored', 'drop'],
  ['when that is stored, but untold', 'letThrough'],
] as const

/** Lets the worker die at the place where it is held next. @returns to be awaited there: another worker serves then */
type Arm = (at: Omit<HeldStep, 'session'>) => Promise<() => Promise<void>>

async function armed(session: SessionHandle, worker: WorkerProcess, at: Omit<HeldStep, 'session'>, lastWord: LastWord) {
  const held = await stage.holds.hold({ session: session.id, ...at })
  return async (): Promise<WorkerProcess> => {
    await held.reached()
    await worker.kill()
    await held[lastWord]()
    return stage.startWorker()
  }
}

/** Unset for the session that nobody disturbs. */
type Scene = (session: SessionHandle, arm: Arm, lastWord?: LastWord) => Promise<unknown>

const SCENES: Record<string, Scene> = {
  async 'it is paused'(session, arm) {
    const die = await arm({ moment: 'pause' })
    await session.pause('lunch')
    await die()
    await eventOf(session, 'session.paused')
    const turn = await session.send('look', { messageId: 'look' })
    await session.resume()
    await turn.result()
  },
  async 'it is resumed'(session, arm) {
    await session.pause('lunch')
    await eventOf(session, 'session.paused')
    const turn = await session.send('look', { messageId: 'look' })
    const die = await arm({ moment: 'resume' })
    await session.resume()
    await die()
    await turn.result()
  },
  async 'it is closed'(session, arm) {
    await (await session.send('look', { messageId: 'look' })).result()
    const die = await arm({ moment: 'close' })
    await session.close()
    await die()
    await eventOf(session, 'session.closed')
  },
  async 'a cancelled turn ends'(session, arm) {
    const shut = stage.doors.hold(({ key }) => key.startsWith(session.id))
    const turn = await session.send('look', { messageId: 'look' })
    await shut.reached()
    const die = await arm({ moment: 'end' })
    await session.cancelTurn()
    await die()
    expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
    shut.open()
  },
  async 'a fork of a client begins'(session, arm) {
    expect(await fork(session, await arm({ child: true, step: 'open', moment: 'claim' }))).toBe(1)
  },
  async 'a fork of a client knows what it begins with'(session, arm, lastWord) {
    const asked = await fork(session, await arm({ child: true, step: 'open', moment: 'settle' }))
    expect(asked).toBe(lastWord === 'drop' ? 2 : 1)
  },
}

/** @returns how often the profile was asked for the beginning of the fork */
async function fork(session: SessionHandle, die: () => Promise<void>): Promise<number> {
  const asked = (): number => stage.doors.knocks.filter(({ tool }) => tool === 'context').length
  const before = asked()
  await (await session.send('look', { messageId: 'look' })).result()
  const child = await session.fork({ label: 'mine', profile: 'told' })
  await die()
  await (await child.send('hello', { messageId: 'hello' })).result()
  return asked() - before
}

describe.each(Object.entries(SCENES))('a worker that dies as %s', (_what, play) => {
  it.each(WHEN)('%s', async (_when, lastWord) => {
    const worker = await stage.startWorker()
    const [twin, session] = [await stage.session(), await stage.session()]
    await play(twin, async () => async () => undefined)
    const arm: Arm = async (at) => {
      const die = await armed(session, worker, at, lastWord)
      return async () => void (await die())
    }
    await play(session, arm, lastWord)
    expectUndisturbed(await readStory(stage, session), await readStory(stage, twin))
  })
})

describe('a worker that dies as a person', () => {
  /** A tool with an effect that was begun by a worker that is dead now. */
  async function begun(): Promise<SessionHandle> {
    const worker = await stage.startWorker()
    const session = await stage.session()
    const shut = stage.doors.hold(({ key }) => key.startsWith(session.id))
    await session.send('wire', { messageId: 'wire' })
    await shut.reached()
    await worker.kill()
    shut.open()
    return session
  }

  async function question(session: SessionHandle): Promise<InboxQuestion> {
    await eventOf(session, 'pending.opened')
    const [item, ...more] = await session.pending()
    expect(more).toEqual([])
    return item as InboxQuestion
  }

  async function expectAnsweredOnce(session: SessionHandle): Promise<void> {
    expect((await session.turn('wire').result()).text).toBe('done after 1')
    expect((await session.transcript())[2]).toMatchObject({ role: 'tool', content: 'wired 3' })
    const types = (await eventsUntil(session, ({ type }) => type === 'turn.completed')).map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('pending.'))).toEqual(['pending.opened', 'pending.closed'])
    expect(stage.doors.knocks.filter(({ key }) => key.startsWith(session.id))).toHaveLength(1)
  }

  it.each(WHEN)('is asked, %s', async (_when, lastWord) => {
    const session = await begun()
    const die = await armed(session, await stage.startWorker(), { step: 't1.0.0', moment: 'park' }, lastWord)
    await die()
    await session.answer((await question(session)).id, { decision: 'done', text: 'wired 3' })
    await expectAnsweredOnce(session)
  })

  it.each(WHEN)('has answered, %s', async (_when, lastWord) => {
    const session = await begun()
    const worker = await stage.startWorker()
    const { id } = await question(session)
    const die = await armed(session, worker, { step: 't1.0.0', moment: 'settle' }, lastWord)
    const answering = session.answer(id, { decision: 'done', text: 'wired 3' })
    await die()
    await answering
    await expectAnsweredOnce(session)
  })
})
