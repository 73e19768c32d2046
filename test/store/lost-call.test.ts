/**
 * A call whose activity is gone: what its tool finds out, whether a person is asked, and what the ledger makes of it.
 */
import { noopMetricMeter } from '@temporalio/common'
import { describe, expect, it } from 'vitest'
import type { Attempt } from '../../src/activities/step/attempt.ts'
import type { StopWhy } from '../../src/activities/step/in-flight.ts'
import type { Deps } from '../../src/activities/deps.ts'
import { endLost } from '../../src/activities/tool/lost-call.ts'
import { createMetrics } from '../../src/activities/metrics.ts'
import { endStep } from '../../src/activities/step/end-step.ts'
import { settleAnswered } from '../../src/activities/tool/settle-answered.ts'
import type { CallAtHand } from '../../src/activities/tool/call-at-hand.ts'
import { defineSimpleTool } from '../../src/tool/compat.ts'
import type { Tool, ToolContext, Verified } from '../../src/tool/tool.ts'
import type { ToolOutcome } from '../../src/protocol/steps.ts'
import type { Decision } from '../../src/protocol/pending.ts'
import { putMessage } from '../../src/store/transcript/message-bodies.ts'
import { readQuestions } from '../../src/store/watching/inbox.ts'
import { readOwnRecords } from '../../src/store/transcript/records.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { forceStep } from '../../src/store/ledger/settle.ts'
import { createGate } from '../support/gate.ts'
import { TOKEN, claim, openSession, placeAt, take, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const KEY = 't1.0.0'
const step = { key: KEY, kind: 'tool', name: 'pay' } as const

const deps = (): Deps =>
  ({
    db: at.db,
    notify: () => undefined,
    metrics: createMetrics(noopMetricMeter),
    log: { warn: () => undefined },
    transcripts: { append: () => undefined },
    live: { step: () => undefined },
    keptInstances: { end: () => undefined },
    agent: { limits: { toolTimeoutMs: 60_000 }, skills: new Map() },
  }) as unknown as Deps

type Meanwhile = (stop: (why: StopWhy) => void) => unknown

const attemptOf = (run: RunRef, meanwhile?: Meanwhile): Attempt => ({
  run,
  token: TOKEN,
  withinMs: 1000,
  attend(work, stop) {
    void meanwhile?.(stop)
    return work
  },
  note: () => undefined,
})

function pay(extras: {
  verify?: (args: unknown, ctx: ToolContext) => Verified | Promise<Verified>
  onUnknownOutcome?: 'ask'
  timeout?: number
}): Tool {
  return defineSimpleTool({ name: 'pay', description: 'd', execute: () => 'never', ...extras })
}

function callOf({ sessionId }: RunRef, tool: Tool): CallAtHand {
  const call = { id: 'c-1', name: 'pay' }
  const position = { gen: 0, turn: 1, base: 1, place: placeAt(1), round: 0, index: 0, seq: 2, messageId: 'm' }
  return {
    input: { sessionId, key: KEY, call, ...position },
    call: { ...call, arguments: '{}' },
    messages: [],
    loaded: [],
    chain: '',
    hash: 'hash',
    facts: { config: {}, rootId: sessionId } as unknown as CallAtHand['facts'],
    tools: { find: () => ({ tool }) } as unknown as CallAtHand['tools'],
  }
}

interface Lost {
  run: RunRef
  call: CallAtHand
  /** What the ledger makes of it; undefined if nothing is known but how the call was lost. */
  end(how: 'cancelled' | 'timedOut'): Promise<ToolOutcome | undefined>
  /** What the model reads. */
  read(): Promise<string | undefined>
}

async function lost(tool: Tool, begun = true, meanwhile?: Meanwhile): Promise<Lost> {
  const run = await openSession(at.db)
  await write(at.db, run, 'm1.0', 1, [{ role: 'user', content: 'pay' }])
  if (begun) await take(at.db, run, step)
  const call = callOf(run, tool)
  return {
    run,
    call,
    async end(how) {
      const forced = await forceStep(at.db, { run, ...step })
      if ('outcome' in forced) return forced.outcome as ToolOutcome
      const ending = await endLost(deps(), { attempt: attemptOf(run, meanwhile), at: call }, { forced, how })
      return ending && endStep(deps(), forced, { ending })
    },
    async read() {
      const records = await readOwnRecords(at.db, { sessionId: run.sessionId, gen: 0, seq: 2 })
      return records.find(({ message }) => message.role === 'tool')?.message.content
    },
  }
}

describe.each(['cancelled', 'timedOut'] as const)('a call that was begun and is %s', (how) => {
  it('ends with the result of what its tool found out', async () => {
    const { end, read } = await lost(pay({ verify: () => ({ happened: true, result: 'paid' }) }))
    expect(await end(how)).toMatchObject({ kind: 'settled', isError: false })
    expect(await read()).toBe('paid')
  })

  it.each([
    ['has no verify', pay({})],
    ['cannot tell', pay({ verify: () => undefined })],
    ['fails to tell', pay({ verify: () => Promise.reject(new Error('away')) })],
    ['takes too long to tell', pay({ verify: () => new Promise(() => undefined), timeout: 1 })],
    ['would take longer than Temporal waits', pay({ verify: () => new Promise(() => undefined), timeout: 3_600_000 })],
  ])('is left to how it was lost when its tool %s', async (_how, tool) => {
    const { run, end } = await lost(tool)
    expect(await end(how)).toBeUndefined()
    expect(await readQuestions(at.db, [run.sessionId])).toEqual([])
  })

  it('is not looked into if it never began', async () => {
    let asked = 0
    const { end } = await lost(pay({ verify: () => void asked++ }), false)
    expect(await end(how)).toBeUndefined()
    expect(asked).toBe(0)
  })
})

describe('a call that ran into its backstop', () => {
  it('is given back as never begun when it did not happen', async () => {
    const { run, end } = await lost(pay({ verify: () => ({ happened: false }) }))
    expect(await end('timedOut')).toEqual({ kind: 'due', gen: 0 })
    expect(await claim(at.db, run, step)).toMatchObject({ kind: 'mine', begun: false })
  })

  it('is no longer looked into, and nobody is asked, if its turn is cancelled meanwhile', async () => {
    let signal: AbortSignal | undefined
    const looking = createGate()
    const verify = async (_: unknown, ctx: ToolContext): Promise<undefined> => {
      signal = ctx.signal
      await looking.pass()
    }
    const { run, end } = await lost(pay({ verify, onUnknownOutcome: 'ask' }), true, async (stop) => {
      await looking.reached()
      stop('cancel')
    })
    expect(await end('timedOut')).toBeUndefined()
    expect(signal?.aborted).toBe(true)
    expect(await readQuestions(at.db, [run.sessionId])).toEqual([])
  })

  it('lets a person decide; lost once more, it waits with the same question', async () => {
    const { run, end } = await lost(pay({ onUnknownOutcome: 'ask' }))
    const first = await end('timedOut')
    expect(first).toMatchObject({ kind: 'pending', item: { kind: 'unknown_outcome' } })
    expect(await end('timedOut')).toEqual(first)
    expect(await readQuestions(at.db, [run.sessionId])).toHaveLength(1)
  })
})

describe('a call of a turn that was cancelled', () => {
  it('is not run if it did not happen; the model reads no more than that, because its worker may still run it', async () => {
    const { end, read } = await lost(pay({ verify: () => ({ happened: false }) }))
    expect(await end('cancelled')).toMatchObject({ code: 'TOOL_CANCELLED' })
    expect(await read()).toContain('it had not taken effect; if a worker still runs it, it may yet')
    expect(await read()).not.toContain('before')
  })

  it('asks nobody', async () => {
    const { run, end } = await lost(pay({ onUnknownOutcome: 'ask' }))
    expect(await end('cancelled')).toBeUndefined()
    expect(await readQuestions(at.db, [run.sessionId])).toEqual([])
  })
})

describe('an answer', () => {
  const asked = async (): Promise<
    Lost & { item: string; say(decision: Decision, id?: string): Promise<ToolOutcome> }
  > => {
    const call = await lost(pay({ onUnknownOutcome: 'ask' }))
    const outcome = await call.end('timedOut')
    const item = outcome?.kind === 'pending' ? outcome.item.id : ''
    return {
      ...call,
      item,
      say: (decision, id = item) =>
        settleAnswered(deps(), { attempt: attemptOf(call.run), at: call.call }, { said: { id, decision } }),
    }
  }

  it('that is carried out twice gives the same outcome', async () => {
    const { say, read } = await asked()
    const first = await say('done')
    expect(await say('done')).toEqual(first)
    expect(await read()).toContain('a person has said so')
  })

  it('that a worker hears of too late does not touch a call that runs again', async () => {
    const { run, say } = await asked()
    expect(await say('retry')).toEqual({ kind: 'due', gen: 0 })
    const running = await take(at.db, run, step)
    expect(await say('retry')).toEqual({ kind: 'due', gen: 0 })
    expect(await say('done')).toEqual({ kind: 'due', gen: 0 })
    expect(await claim(at.db, run, step)).toMatchObject({ kind: 'mineAlready', lease: running.lease })
  })

  it('that nobody has given stays open if nothing may count instead', async () => {
    const { run, call, item, say } = await asked()
    const told = await settleAnswered(
      deps(),
      { attempt: attemptOf(run), at: call },
      { said: { kind: 'expired', id: item } },
    )
    expect(told).toMatchObject({ kind: 'pending', item: { id: item, kind: 'unknown_outcome' } })
    expect(await say('not_done')).toMatchObject({ isError: true })
  })

  it('to another question decides nothing', async () => {
    const { run, say } = await asked()
    expect(await say('done', `${KEY}@0.99`)).toEqual({ kind: 'due', gen: 0 })
    expect(await readQuestions(at.db, [run.sessionId])).toHaveLength(1)
  })

  it('that comes with others at the same moment: one decides, for everybody', async () => {
    const { run, say } = await asked()
    const said = await Promise.allSettled([say('done'), say('not_done'), say('done')])
    const outcomes = said.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(outcomes.length).toBeGreaterThan(0)
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
    expect(await readQuestions(at.db, [run.sessionId])).toEqual([])
  })

  it('may have its text in the store', async () => {
    const { run, call, end, read } = await lost(pay({ onUnknownOutcome: 'ask' }))
    const outcome = await end('timedOut')
    if (outcome?.kind !== 'pending') throw new Error('nobody was asked')
    await putMessage(at.db, run.sessionId, { messageId: 'answer-1', text: 'a long text' })
    const answer = { id: outcome.item.id, decision: 'done', textId: 'answer-1' } as const
    await settleAnswered(deps(), { attempt: attemptOf(run), at: call }, { said: answer })
    expect(await read()).toBe('a long text')
  })
})
