/**
 * Nobody answers in time, and the worker gets SIGKILL in the very moment: when the end of the wait is stored, before the
 * call goes on, and while it runs. The other side of the tool sees how often it went on.
 */
import { afterEach, describe, expect, it } from 'vitest'
import type { SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { replyBy } from '../../src/testing/index.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import type { HeldStep } from '../support/ledger-holds.ts'
import { ask, eventsUntil } from '../support/session-fixture.ts'
import { badServer } from '../unit/capabilities/mcp/mcp-fixture.ts'

const stage = useCrashStage({
  script: replyBy([
    ['pay', { toolCalls: [{ name: 'pay' }] }],
    ['fill in', { toolCalls: [{ name: 'mcp__forms__ask' }] }],
    [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
  ]),
})
afterEach(() => stage.killWorkers())

/** Long enough that the test holds the ledger before. */
const expiresIn = 1500

interface Kind {
  text: 'pay' | 'fill in'
  byDefault: 'deny' | 'approve'
  moments: HeldStep['moment'][]
  done: string[]
  read: string
}

interface Asked {
  session: SessionHandle
  turn: TurnHandle
  startWorker(): ReturnType<typeof stage.startWorker>
  /** What the tools did. */
  done(): string[]
}

async function asked(text: Kind['text'], byDefault: Kind['byDefault']): Promise<Asked> {
  const before = stage.doors.knocks.length
  const bad = badServer()
  const questions = { expiresIn, default: { name: 'Ada' } }
  const forms = { ...bad.server, per: 'session', questions, tools: { ask: { kind: 'readonly' } } } as const
  const settings = { permissions: { expiresIn, default: byDefault }, mcp: { forms } }
  const session = await stage.session()
  return {
    session,
    turn: await session.send(text),
    startWorker: () => stage.startWorker(settings),
    done: () => [
      ...stage.doors.knocks.slice(before).map(({ tool }) => tool),
      ...bad.journal().filter((line) => /^heard (?!cancel)/.test(line)),
    ],
  }
}

/** The question was asked once and has ended once, without a person, and the session goes on. */
async function expectOver(session: SessionHandle): Promise<void> {
  const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
  const pending = events.filter(({ type }) => type.startsWith('pending.'))
  expect(pending).toMatchObject([{ type: 'pending.opened' }, { type: 'pending.closed', data: { by: 'expired' } }])
  expect(await ask(session, 'hello')).toBe('read: hello')
}

const DENIED = 'TOOL_PERMISSION_DENIED: nobody has said in time whether "pay" may run; it was not run'

describe.each<Kind>([
  { text: 'pay', byDefault: 'deny', moments: ['settle'], done: [], read: DENIED },
  { text: 'pay', byDefault: 'approve', moments: ['reopen', 'retake'], done: ['pay'], read: 'pay done' },
  { text: 'fill in', byDefault: 'deny', moments: ['reopen', 'retake'], done: ['heard accept'], read: 'accept' },
])('$text, with the default to $byDefault', ({ text, byDefault, moments, done, read }) => {
  // Nobody knows how far a call came that was taken and must not be repeated.
  const fates = (moment: string) => (moment === 'retake' ? (['drop'] as const) : (['drop', 'letThrough'] as const))
  const kills = moments.flatMap((moment) => fates(moment).map((fate) => ({ moment, fate })))

  it.each(kills)('is over once when the worker dies at the $moment of its step ($fate)', async ({ moment, fate }) => {
    const { session, turn, startWorker, ...at } = await asked(text, byDefault)
    const hold = await stage.holds.hold({ session: session.id, step: 't1.0.0', moment })
    const worker = await startWorker()
    await hold.reached()
    await worker.kill()
    await hold[fate]()
    expect(at.done()).toEqual([])
    await startWorker()
    expect((await turn.result()).text).toBe(`read: ${read}`)
    expect(at.done()).toEqual(done)
    await expectOver(session)
  })
})

it('a call that runs because nobody has answered is neither repeated nor asked about again when its worker dies', async () => {
  const { session, turn, startWorker, done } = await asked('pay', 'approve')
  const door = stage.doors.hold(({ key }) => key.startsWith(session.id))
  const worker = await startWorker()
  await door.reached()
  await worker.kill()
  await startWorker()
  expect((await turn.result()).text).toContain('TOOL_OUTCOME_UNKNOWN')
  expect(done()).toEqual(['pay'])
  await expectOver(session)
})
