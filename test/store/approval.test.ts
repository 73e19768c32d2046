/** A call that needs a person's permission: parked before it begins, whatever its effect, and asked about once. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Deps, Permit } from '../../src/activities/deps.ts'
import { settleTool } from '../../src/activities/tool/settle-tool.ts'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import type { Answer, Decision, PendingItem } from '../../src/protocol/pending.ts'
import type { Proposal, ToolOutcome } from '../../src/protocol/steps.ts'
import { readQuestions } from '../../src/store/inbox.ts'
import { stealDeadSteps } from '../../src/store/liveness.ts'
import { readOwnRecords } from '../../src/store/records.ts'
import { tool } from '../../src/tool/define-tool.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { readEvents } from '../support/events.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, taker, visit, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

const HINTS = { pure: { readOnlyHint: true }, idempotent: { idempotentHint: true }, non_idempotent: {} }
type Effect = keyof typeof HINTS

interface Calling {
  sessionId: string
  /** How often the tool has been run. */
  runs(): number
  /** One attempt, by a worker that lives unless another is given. */
  tried(by?: Deps): Promise<ToolOutcome>
  worker(bootId?: string): Deps
  propose(proposed: Proposal): Promise<ToolOutcome>
  say(decision: Decision, text?: string): Promise<ToolOutcome>
  open(): Promise<PendingItem[]>
  /** What the model reads. */
  read(): Promise<string | undefined>
}

async function calling(effect: Effect, running?: Gate, permit?: Permit): Promise<Calling> {
  let runs = 0
  const wipe = tool(
    'wipe',
    'd',
    z.object({}),
    async () => {
      runs++
      await running?.pass()
      return 'wiped'
    },
    HINTS[effect],
  )
  const worker = (bootId?: string): Deps => ({
    ...depsOf(at.db, { llm: scriptedModel([]), capabilities: { tools: [wipe] } }, bootId),
    permit: permit ?? (async () => ({ kind: 'ask', question: 'wipe the whole disk?' })),
  })
  const deps = worker()
  const run = await openSession(at.db)
  const { sessionId } = run
  const call = { id: 'c-1', name: 'wipe', arguments: '{}' }
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: [call] }])
  const place = { turn: 1, base: 1, place: placeAt(1), messageId: 'm', round: 0, index: 0, seq: 2 }
  const step = { sessionId, key: 't1.0.0', call, gen: 0, ...place }
  const propose = (proposed: Proposal): Promise<ToolOutcome> => attempt(run, () => settleTool(deps, { step, proposed }))
  const open = (): Promise<PendingItem[]> => readQuestions(at.db, [sessionId])
  let asked: string | undefined
  return {
    sessionId,
    runs: () => runs,
    tried: (by = deps) => attempt(run, () => callTool(by, step)),
    worker,
    propose,
    open,
    async say(decision, text) {
      asked ??= (await open())[0]?.id
      const answer: Answer = { id: asked ?? '', decision, ...(text !== undefined && { text }) }
      return propose({ kind: 'answered', answer })
    },
    async read() {
      const records = await readOwnRecords(at.db, { sessionId, gen: 0, seq: 2 })
      return records.find(({ message }) => message.role === 'tool')?.message.content
    },
  }
}

describe.each(Object.keys(HINTS) as Effect[])('a call with effect %s that a person must permit', (effect) => {
  it('waits, and has not run', async () => {
    const { tried, runs, open } = await calling(effect)
    const first = await tried()
    expect(first).toMatchObject({ kind: 'pending', item: { kind: 'approval' } })
    expect(await open()).toMatchObject([{ kind: 'approval', name: 'wipe', message: 'wipe the whole disk?' }])
    expect(await tried()).toEqual(first)
    expect([await open(), runs()]).toMatchObject([[{ kind: 'approval' }], 0])
  })

  it('runs once when it is permitted', async () => {
    const { tried, say, runs, read, sessionId } = await calling(effect)
    await tried()
    expect(await say('approve')).toEqual({ kind: 'due', gen: 0 })
    expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
    expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
    expect([runs(), await read()]).toEqual([1, 'wiped'])
    const told = (await readEvents(at.db, sessionId, 0)).filter(({ type }) => type.startsWith('pending.'))
    expect(told.map(({ type, data }) => [type, 'decision' in data ? data.decision : undefined])).toEqual([
      ['pending.opened', undefined],
      ['pending.closed', 'approve'],
    ])
  })

  it('does not run when it is denied: the model reads why', async () => {
    const { tried, say, runs, read } = await calling(effect)
    await tried()
    expect(await say('deny', 'that is the wrong disk')).toMatchObject({ isError: true, code: 'TOOL_PERMISSION_DENIED' })
    expect(await tried()).toMatchObject({ code: 'TOOL_PERMISSION_DENIED' })
    expect(runs()).toBe(0)
    expect(await read()).toBe('TOOL_PERMISSION_DENIED: a person did not permit "wipe": that is the wrong disk')
  })

  it('is not asked about twice when its worker dies between the answer and the run', async () => {
    const dying = createGate()
    let times = 0
    const { tried, say, runs, worker, open } = await calling(effect, undefined, async () => {
      if (++times === 2) await dying.pass()
      return { kind: 'ask', question: 'wipe?' }
    })
    await tried()
    await say('approve')
    const dead = tried(worker(await visit(at.db))).catch((error: unknown) => error)
    await dying.reached()
    await stealDeadSteps(at.db, taker('a survivor'))

    expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
    expect([await open(), runs()]).toEqual([[], 1])
    dying.open()
    await dead
  })

  it('ends when its turn is stopped, and its question with it', async () => {
    const { tried, propose, say, runs, open } = await calling(effect)
    await tried()
    const [item] = await open()
    expect(await propose({ kind: 'cancelled' })).toMatchObject({ isError: true, code: 'TOOL_CANCELLED' })
    expect([await open(), runs()]).toEqual([[], 0])
    expect(item?.kind).toBe('approval')
    expect(await say('approve')).toMatchObject({ code: 'TOOL_CANCELLED' })
  })

  it('stays open to an answer that is none to it', async () => {
    const { tried, say, open } = await calling(effect)
    const waits = await tried()
    expect(await say('done')).toEqual(waits)
    expect(await open()).toHaveLength(1)
  })
})

it('a permitted call that must not be repeated has an unknown outcome once it has begun, and is not permitted anew', async () => {
  const running = createGate()
  const { tried, say, runs, worker, read } = await calling('non_idempotent', running)
  await tried()
  await say('approve')
  const dead = tried(worker(await visit(at.db))).catch((error: unknown) => error)
  await running.reached()
  await stealDeadSteps(at.db, taker('a survivor'))

  expect(await tried()).toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' })
  running.open()
  await dead
  expect([runs(), await read()]).toEqual([1, expect.stringContaining('TOOL_OUTCOME_UNKNOWN')])
})

it('a failed attempt at a permitted call is followed by the next without a question', async () => {
  let times = 0
  const { tried, say, open } = await calling('pure', undefined, async () => {
    if (++times === 2) throw new Error('no connection')
    return { kind: 'ask', question: 'wipe?' }
  })
  await tried()
  await say('approve')
  await expect(tried()).rejects.toThrow('no connection')
  expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
  expect(await open()).toEqual([])
})
