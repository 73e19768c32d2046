/**
 * Nothing is done twice and nothing is lost, whatever moment of a step a kill hits. Each session is brought to a moment
 * of its own. Then the worker of all sessions gets SIGKILL. Each session must end like its twin, which nobody
 * disturbed. `STELLO_CRASH=all` kills at every moment there is.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import type { ChatRequest, FakeRequest } from '../../src/testing/index.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import type { WorkerProcess } from '../support/crashing.ts'
import { expectUndisturbed, readStory, type Differences } from '../support/story.ts'
import { eventOf } from '../support/session-fixture.ts'

const stage = useCrashStage()

/** Between the kill and the next worker: decides whether the last statement of the dead worker counts. */
type AfterKill = () => Promise<void>

const WHEN = {
  unclaimed: 'before it is claimed',
  claimed: 'claimed, but not begun',
  running: 'in the middle',
  ended: 'at its end, before that is stored',
  stored: 'stored, but untold',
} as const
type When = keyof typeof WHEN

interface Step {
  /** The message of the user. */
  word: string
  key: string
  of: 'model' | 'repeatable' | 'once' | 'hook' | 'store'
  child?: true
  /** The moments of this step; unset = all. */
  when?: When[]
}

/** A `store` step only asks the store, so a repetition of it cannot be counted. */
const STEPS: Step[] = [
  { word: 'look', key: 'm1.0', of: 'model' },
  { word: 'look', key: 't1.0.0', of: 'repeatable' },
  { word: 'look', key: 'm1.1', of: 'model' },
  { word: 'book', key: 't1.0.0', of: 'repeatable' },
  { word: 'pay', key: 't1.0.0', of: 'once' },
  { word: 'rounds', key: 'm1.3', of: 'model' },
  { word: 'hang', key: 't1.2.0', of: 'repeatable', when: ['unclaimed', 'claimed', 'ended', 'stored'] },
  { word: 'fork', key: 't1.0.0', of: 'store' },
  { word: 'fork', key: 't1.0.0.fork', of: 'hook' },
  { word: 'task', key: 't1.0.0.open', of: 'store', when: ['unclaimed', 'claimed', 'ended', 'stored'] },
  { word: 'task', key: 't1.0.0.fork', of: 'hook' },
  { word: 'task', key: 'm1.0', of: 'model', child: true },
  { word: 'task', key: 't1.0.0', of: 'repeatable', child: true },
  { word: 'task', key: 'm1.1', of: 'model', child: true },
  { word: 'task', key: 't1.0.0', of: 'store', when: ['ended', 'stored'] },
]

interface Moment extends Step {
  at: When
  name: string
  text: string
}

const MOMENTS = STEPS.flatMap((step) =>
  (step.when ?? (Object.keys(WHEN) as When[])).map((at): Moment => {
    const { word, key, child } = step
    const name = `${child ? `child of ${word}` : word}: ${key} ${WHEN[at]}`
    return { ...step, at, name, text: `${tagOf(step)}${at}` }
  }),
)

function tagOf({ word, key, of, child }: Step): string {
  return `${word} #${child ? 'child-' : ''}${key}-${of}-`
}

/** Brings the session to the moment. */
async function arrive({ at, text, key, of, child }: Moment, session: SessionHandle): Promise<AfterKill> {
  if (at === 'running') {
    const tag = text.slice(text.indexOf('#'))
    const asked = child ? `look ${tag}` : text
    const held =
      of === 'model'
        ? stage.fake.hold((request) => roundOf(request, asked) === key.slice(key.indexOf('.') + 1))
        : undefined
    const shut =
      of === 'model'
        ? undefined
        : stage.doors.hold((knock) => (of === 'hook' ? knock.key === session.id : knock.tag.includes(tag)))
    await begin(session, text)
    await (held ? held.reached : shut?.reached())
    return async () => {
      held?.release()
      shut?.open()
    }
  }
  const moment = at === 'unclaimed' || at === 'claimed' ? 'claim' : 'settle'
  const held = await stage.holds.hold({ session: session.id, step: key, moment, ...(child && { child }) })
  await begin(session, text)
  await held.reached()
  return at === 'claimed' || at === 'stored' ? held.letThrough : held.drop
}

/** The round of the request, if its turn began with that text. */
function roundOf({ body }: FakeRequest<ChatRequest>, text: string): string | undefined {
  const asked = body.messages.findLastIndex(({ role }) => role === 'user')
  if (body.messages[asked]?.content !== text) return undefined
  return String(body.messages.slice(asked).filter(({ role }) => role === 'assistant').length)
}

async function begin(session: SessionHandle, text: string): Promise<void> {
  await session.send(text, { messageId: 'first' })
}

/** The second message is sent twice, as by a client that got no reply to the first try. */
async function sendNext(session: SessionHandle): Promise<void> {
  for (let n = 0; n < 2; n++) await session.send('next', { messageId: 'next' })
}

async function end({ word }: Moment, session: SessionHandle): Promise<void> {
  const turn = session.turn('first')
  if (word === 'hang') {
    await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
    await session.resume()
  }
  await turn.result()
  await session.turn('next').result()
  for (const { id } of (await session.tree()).children) {
    const child = stage.client.session(id)
    if (word === 'task') await eventOf(child, 'session.closed')
    else await (await child.send('hello', { messageId: 'hello' })).result()
  }
}

function differences({ of, key, at, child, word }: Moment): Differences {
  const step = `main${child ? '/task' : ''} ${key}`
  const repeated = at === 'running' || at === 'ended' ? 1 : 0
  switch (of) {
    case 'model':
      return { asked: { [step]: repeated } }
    case 'repeatable':
      return { called: { [step]: repeated } }
    case 'once':
      if (at === 'unclaimed' || at === 'stored') return {}
      return { called: { [step]: at === 'claimed' ? -1 : 0 }, unknown: word }
    case 'hook':
      return { called: { 'main hook': at === 'claimed' ? -1 : 0 } }
    case 'store':
      return {}
  }
}

let worker: WorkerProcess
beforeAll(async () => {
  stage.doors.hold(({ tool }) => tool === 'hang')
  worker = await stage.startWorker()
})

/**
 * Statements that are held keep connections of the worker. It has 20 of them, so not all moments can be held at once.
 */
const SHORT = ['look m1.0 claimed', 'look m1.1 ended', 'book t1.0.0 running', 'fork t1.0.0 stored', 'task t1.0.0 ended']
const groups =
  process.env['STELLO_CRASH'] === 'all'
    ? STEPS.map((step) => MOMENTS.filter(({ text }) => text.startsWith(tagOf(step))))
    : [MOMENTS.filter(({ word, key, at }) => word === 'pay' || SHORT.includes(`${word} ${key} ${at}`))]

describe.each(groups)('a worker killed in the middle of steps', (...moments) => {
  const sessions = new Map<Moment, { session: SessionHandle; twin: SessionHandle }>()
  const each = <T>(work: (moment: Moment, pair: { session: SessionHandle; twin: SessionHandle }) => Promise<T>) =>
    Promise.all([...sessions].map(([moment, pair]) => work(moment, pair)))

  beforeAll(async () => {
    for (const moment of moments) sessions.set(moment, { session: await stage.session(), twin: await stage.session() })
    await each(async (moment, { twin }) => {
      await begin(twin, moment.text)
      await sendNext(twin)
      await end(moment, twin)
    })
    const afterKill = await each((moment, { session }) => arrive(moment, session))
    await worker.kill()
    await each((_moment, { session }) => sendNext(session))
    for (const decide of afterKill) await decide()
    worker = await stage.startWorker()
    await each((moment, { session }) => end(moment, session))
  })

  it.each(moments.map((moment) => [moment.name, moment] as const))('%s', async (_name, moment) => {
    const { session, twin } = sessions.get(moment) as { session: SessionHandle; twin: SessionHandle }
    expectUndisturbed(await readStory(stage, session), await readStory(stage, twin), differences(moment))
  })
})
