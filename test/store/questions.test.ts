/**
 * A tool asks a person in the middle of its run. The call is parked whatever its effect, and runs again with the
 * answer.
 */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Deps } from '../../src/activities/deps.ts'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import { settleTool } from '../../src/activities/tool/settle-tool.ts'
import type { PendingItem } from '../../src/protocol/pending.ts'
import type { Answer } from '../../src/protocol/read-answer.ts'
import type { Elsewhere, Proposal, ToolOutcome } from '../../src/protocol/steps.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { readQuestions } from '../../src/store/watching/inbox.ts'
import { stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { readOwnRecords } from '../../src/store/transcript/records.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { PersonQuestion } from '../../src/tool/person.ts'
import type { ToolContext } from '../../src/tool/tool.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { readEvents } from '../support/events.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, resetRun, taker, visit, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

const HINTS = { pure: { readOnlyHint: true }, idempotent: { idempotentHint: true }, non_idempotent: {} }
type Effect = keyof typeof HINTS

const REGION: PersonQuestion = {
  message: 'Which region?',
  header: 'Region',
  options: [{ label: 'EU', description: 'near' }, { label: 'US' }],
}
const FORM: PersonQuestion = {
  message: 'How many?',
  schema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
}

interface Asking {
  sessionId: string
  tried(by?: Deps, as?: RunRef): Promise<ToolOutcome | Elsewhere>
  run: RunRef
  worker(bootId?: string): Deps
  propose(proposed: Proposal): Promise<ToolOutcome>
  /** Answers the open question. */
  say(answer: Omit<Answer, 'id'>): Promise<ToolOutcome>
  open(): Promise<PendingItem[]>
  /** What the model reads. */
  read(): Promise<string | undefined>
}

async function asking(
  effect: Effect,
  execute: (ctx: ToolContext) => Promise<string>,
  row: Parameters<typeof openSession>[1] = {},
): Promise<Asking> {
  const book = tool('book', 'd', z.object({}), (_, ctx) => execute(ctx), HINTS[effect])
  const worker = (bootId?: string): Deps =>
    depsOf(at.db, { llm: scriptedModel([]), capabilities: { tools: [book] } }, bootId)
  const deps = worker()
  const run = await openSession(at.db, row)
  const { sessionId } = run
  const call = { id: 'c-1', name: 'book', arguments: '{}' }
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: [call] }])
  const place = { turn: 1, base: 1, place: placeAt(1), messageId: 'm', round: 0, index: 0, seq: 2 }
  const step = { sessionId, key: 't1.0.0', call, gen: 0, ...place }
  const propose = (proposed: Proposal): Promise<ToolOutcome> => attempt(run, () => settleTool(deps, { step, proposed }))
  const open = (): Promise<PendingItem[]> => readQuestions(at.db, [sessionId])
  return {
    sessionId,
    run,
    tried: (by = deps, as = run) => attempt(as, () => callTool(by, step)),
    worker,
    propose,
    open,
    async say(answer) {
      const [item] = await open()
      return propose({ kind: 'answered', answer: { id: item?.id ?? '', ...answer } })
    },
    async read() {
      const records = await readOwnRecords(at.db, { sessionId, gen: 0, seq: 2 })
      return records.find(({ message }) => message.role === 'tool')?.message.content
    },
  }
}

describe.each(Object.keys(HINTS) as Effect[])('a tool with effect %s that asks', (effect) => {
  it('waits with its question, and nothing after the question has run', async () => {
    const behind: string[] = []
    const { tried, open } = await asking(effect, async (ctx) => {
      const { text } = await ctx.ask(REGION)
      behind.push(text)
      return text
    })
    const first = await tried()
    expect(first).toMatchObject({ kind: 'pending', item: { kind: 'question' } })
    expect(await tried()).toEqual(first)
    expect(await open()).toMatchObject([
      { kind: 'question', name: 'book', message: 'Which region?', form: { header: 'Region', options: REGION.options } },
    ])
    expect(behind).toEqual([])
  })

  it('runs again from its beginning with the answer, and the code after the question runs once', async () => {
    const ran: string[] = []
    const { tried, say, read, sessionId } = await asking(effect, async (ctx) => {
      ran.push('begins')
      const { text } = await ctx.ask(REGION)
      ran.push(text)
      return `booked in ${text}`
    })
    await tried()
    expect(await say({ decision: 'answer', text: 'EU' })).toEqual({ kind: 'due', gen: 0 })
    expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
    expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
    expect([ran, await read()]).toEqual([['begins', 'begins', 'EU'], 'booked in EU'])
    const told = (await readEvents(at.db, sessionId, 0)).filter(({ type }) => type.startsWith('pending.'))
    expect(told.map(({ type }) => type)).toEqual(['pending.opened', 'pending.closed'])
  })

  it('may ask several questions in a row: each is asked once', async () => {
    const asked: string[] = []
    const { tried, say, open, read } = await asking(effect, async (ctx) => {
      const { text: region } = await ctx.ask(REGION)
      const { values } = await ctx.ask(FORM)
      return `${region} ${JSON.stringify(values)}`
    })
    const next = async (answer: Omit<Answer, 'id'>): Promise<void> => {
      await tried()
      asked.push(...(await open()).map(({ message }) => message))
      await say(answer)
    }
    await next({ decision: 'answer', text: 'US' })
    await next({ decision: 'answer', values: { count: 3 } })
    await tried()
    expect([asked, await read()]).toEqual([['Which region?', 'How many?'], 'US {"count":3}'])
  })

  it('is not asked about twice when its worker dies between the answer and its run, and runs to its end once', async () => {
    const dying = createGate()
    let [tries, booked] = [0, 0]
    const { tried, say, worker, open } = await asking(effect, async (ctx) => {
      if (++tries === 2) await dying.pass()
      await ctx.ask(REGION)
      booked++
      return 'booked'
    })
    await tried()
    await say({ decision: 'answer', text: 'EU' })
    const dead = tried(worker(await visit(at.db))).catch((error: unknown) => error)
    await dying.reached()
    await stealDeadSteps(at.db, taker('a survivor'))

    const after = await tried()
    // The worker of a tool that must not be repeated died in the middle of it. Nobody knows how far the tool came.
    expect(after).toMatchObject(effect === 'non_idempotent' ? { code: 'TOOL_OUTCOME_UNKNOWN' } : { isError: false })
    expect([await open(), booked]).toEqual([[], effect === 'non_idempotent' ? 0 : 1])
    dying.open()
    await dead
  })

  it('is not begun while it waits: a worker that dies meanwhile changes nothing, and its outcome is not unknown', async () => {
    const { tried, say, worker, open, read } = await asking(effect, async (ctx) => (await ctx.ask(REGION)).text)
    await tried(worker(await visit(at.db)))
    const before = await open()
    await stealDeadSteps(at.db, taker('a survivor'))
    await tried()
    expect(await open()).toEqual(before)
    await say({ decision: 'answer', text: 'EU' })
    await tried()
    expect(await read()).toBe('EU')
  })

  it('is asked again after a rewind of Temporal, and has not begun there either', async () => {
    const { tried, open, run, sessionId } = await asking(effect, async (ctx) => (await ctx.ask(REGION)).text)
    await tried()
    const [asked] = await open()
    const again = await tried(undefined, resetRun(run, 'run-2', 1))
    expect(again).toMatchObject({ kind: 'pending', gen: 1, item: { kind: 'question' } })
    const [anew, ...more] = await open()
    expect([anew?.id === asked?.id, more]).toEqual([false, []])
    expect((await readEvents(at.db, sessionId, 0)).map(({ type }) => type)).not.toContain('tool.status')
  })

  it('ends when its turn is stopped, and its question with it', async () => {
    const { tried, propose, open } = await asking(effect, async (ctx) => (await ctx.ask(REGION)).text)
    await tried()
    expect(await propose({ kind: 'cancelled' })).toMatchObject({ isError: true, code: 'TOOL_CANCELLED' })
    expect(await open()).toEqual([])
  })
})

describe('an answer to the question of a tool', () => {
  const form = () =>
    asking('pure', async (ctx) => {
      const answer = await ctx.ask(FORM)
      return JSON.stringify(answer)
    })

  it.each([
    ['with a text where a form is to be filled', { text: 'three' }, 'answer with values that fit it'],
    ['with values that do not fit', { values: { count: 'many' } }, 'count: must be integer; got "many"'],
    ['with nothing', {}, 'answer with values that fit it'],
  ])('%s is refused with the reason, and the question stays open', async (_what, wrong, why) => {
    const { tried, say, open } = await form()
    const waits = await tried()
    expect(await say({ decision: 'answer', ...wrong })).toEqual({
      ...waits,
      refused: expect.stringContaining(why) as string,
    })
    expect(await open()).toHaveLength(1)
  })

  it('that is no word for a question is refused too', async () => {
    const { tried, say } = await form()
    const waits = await tried()
    expect(await say({ decision: 'approve' })).toEqual({ ...waits, refused: 'decision must be one of answer, decline' })
  })

  it('is repaired as the form shows', async () => {
    const { tried, say, read } = await form()
    await tried()
    await say({ decision: 'answer', values: { count: '3' } })
    await tried()
    expect(JSON.parse(String(await read()))).toEqual({ text: '{"count":3}', values: { count: 3 } })
  })

  it('may be that there is none: the tool reads why', async () => {
    const { tried, say, read } = await form()
    await tried()
    await say({ decision: 'decline', text: 'I do not know' })
    await tried()
    expect(JSON.parse(String(await read()))).toEqual({ text: 'I do not know', declined: true })
  })
})

describe('a question of a tool whose time is over', () => {
  const region = (more: object) =>
    asking('non_idempotent', async (ctx) => JSON.stringify(await ctx.ask({ ...REGION, expiresIn: '2 days', ...more })))
  const expire = async ({ open, propose }: Asking): Promise<ToolOutcome> =>
    propose({ kind: 'expired', id: (await open())[0]?.id ?? '' })

  it('says until when it waits, by the clock of the store, in the outcome and in the inbox, also when it is asked again', async () => {
    const { tried, open } = await region({ default: { text: 'EU' } })
    const first = await tried()
    const [item] = await open()
    expect(Date.parse(item?.expiresAt ?? '') - Date.parse(item?.at ?? '')).toBe(2 * 24 * 60 * 60 * 1000)
    expect(item?.otherwise).toEqual({ decision: 'answer', text: 'EU' })
    expect(first).toMatchObject({ kind: 'pending', item: { expiresAt: item?.expiresAt } })
    // Only the time that is left has become less.
    expect(await tried()).toEqual({ ...first, leftMs: expect.any(Number) as number })
  })

  it.each([
    [{ default: { text: 'EU' } }, { text: 'EU', expired: true }],
    [
      { ...FORM, default: { values: { count: 2 } } },
      { text: '{"count":2}', values: { count: 2 }, expired: true },
    ],
    [{}, { text: 'nobody has answered within 2 days', declined: true, expired: true }],
  ])('counts as answered with %j', async (more, answer) => {
    const at2 = await region(more)
    await at2.tried()
    expect(await expire(at2)).toEqual({ kind: 'due', gen: 0 })
    expect(await at2.tried()).toMatchObject({ kind: 'settled', isError: false })
    expect(JSON.parse(String(await at2.read()))).toEqual(answer)
    const closed = (await readEvents(at.db, at2.sessionId, 0)).filter(({ type }) => type === 'pending.closed')
    expect(closed.map(({ data }) => data)).toMatchObject([{ by: 'expired' }])
  })

  it('stays answered if a person was first, and the end of its time finds nothing', async () => {
    const asked = await region({ default: { text: 'EU' } })
    await asked.tried()
    const [item] = await asked.open()
    await asked.say({ decision: 'answer', text: 'US' })
    expect(await asked.propose({ kind: 'expired', id: item?.id ?? '' })).toEqual({ kind: 'due', gen: 0 })
    await asked.tried()
    expect(JSON.parse(String(await asked.read()))).toEqual({ text: 'US' })
  })
})

it('a tool in a session that asks nobody is told so', async () => {
  const config = { agent: 'test', label: 'l', model: 'agent', tools: 'agent', permissionMode: 'dontAsk' } as const
  const { tried, open, read } = await asking('pure', async (ctx) => (await ctx.ask(REGION)).text, { config })
  expect(await tried()).toMatchObject({ isError: true, code: 'TOOL_PERMISSION_DENIED' })
  expect(await open()).toEqual([])
  expect(await read()).toBe('TOOL_PERMISSION_DENIED: no person is asked here: decide yourself')
})
