/** A call that needs a person's permission: parked before it begins, whatever its effect, and asked about once. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Deps } from '../../src/activities/deps.ts'
import type { ToolHooks } from '../../src/agent/permission-settings.ts'
import { settleTool } from '../../src/activities/tool/settle-tool.ts'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import type { Decision, PendingItem } from '../../src/protocol/pending.ts'
import type { Answer } from '../../src/protocol/read-answer.ts'
import type { Elsewhere, Proposal, ToolOutcome } from '../../src/protocol/steps.ts'
import { readQuestions } from '../../src/store/watching/inbox.ts'
import { stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { readOwnRecords } from '../../src/store/transcript/records.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { ToolExtras } from '../../src/tool/tool.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { readEvents } from '../support/events.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, taker, visit, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

const HINTS = { pure: { readOnlyHint: true }, idempotent: { idempotentHint: true }, non_idempotent: {} }
type Effect = keyof typeof HINTS

interface Extra {
  hooks?: ToolHooks
  deny?: string[]
  hints?: Partial<ToolExtras>
}

interface Calling {
  sessionId: string
  /** How often the tool has been run. */
  runs(): number
  /** One attempt, by a worker that lives unless another is given. */
  tried(by?: Deps): Promise<ToolOutcome | Elsewhere>
  worker(bootId?: string): Deps
  propose(proposed: Proposal): Promise<ToolOutcome>
  say(decision: Decision, text?: string): Promise<ToolOutcome>
  open(): Promise<PendingItem[]>
  /** What the model reads. */
  read(): Promise<string | undefined>
}

async function calling(effect: Effect, running?: Gate, extra: Extra = {}): Promise<Calling> {
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
    { ...HINTS[effect], kind: 'execute', ...extra.hints },
  )
  const worker = (bootId?: string): Deps => ({
    ...depsOf(
      at.db,
      {
        llm: scriptedModel([]),
        permissions: { deny: extra.deny ?? [] },
        ...extra.hooks,
        capabilities: { tools: [wipe] },
      },
      bootId,
    ),
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
    expect(await open()).toMatchObject([{ kind: 'approval', name: 'wipe', message: 'may "wipe" run?' }])
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
    const { tried, say, runs, worker, open } = await calling(effect, undefined, {
      hints: {
        async touches() {
          if (++times === 2) await dying.pass()
          return []
        },
      },
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
    expect(await say('done')).toEqual({ ...waits, refused: 'decision must be one of approve, deny' })
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
  const { tried, say, open } = await calling('pure', undefined, {
    hints: {
      touches() {
        if (++times === 2) throw new Error('no connection')
        return []
      },
    },
  })
  await tried()
  await say('approve')
  await expect(tried()).rejects.toThrow('no connection')
  expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
  expect(await open()).toEqual([])
})

it('an approval is for what was shown: a call that would touch something else by now is asked about anew', async () => {
  let path = '/srv/a'
  const { tried, say, open, runs } = await calling('pure', undefined, {
    hints: { touches: () => [{ kind: 'write', path }] },
  })
  await tried()
  await say('approve')
  path = '/srv/b'
  expect(await tried()).toMatchObject({ kind: 'pending', item: { kind: 'approval' } })
  expect(await open()).toMatchObject([{ message: 'may "wipe" run? It would write /srv/b.' }])
  expect(runs()).toBe(0)
})

it('every decision is told: what asks, and what the person says', async () => {
  const { tried, say, sessionId } = await calling('pure', undefined, {
    hints: { touches: () => [{ kind: 'write', path: '/srv/a' }] },
  })
  await tried()
  await say('approve')
  await tried()
  const told = (await readEvents(at.db, sessionId, 0)).flatMap(({ type, data }) =>
    type === 'permission.decided' ? [data] : [],
  )
  expect(told).toMatchObject([
    { name: 'wipe', decision: 'ask', by: 'mode', mode: 'default', touches: ['write /srv/a'] },
    { name: 'wipe', decision: 'allow', by: 'person', touches: ['write /srv/a'] },
  ])
})

it('the agent’s function may allow with other arguments', async () => {
  const { tried, sessionId, runs } = await calling('pure', undefined, {
    hooks: { canUseTool: () => ({ behavior: 'allow', updatedInput: {} }) },
  })
  expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
  const told = (await readEvents(at.db, sessionId, 0)).filter(({ type }) => type === 'permission.decided')
  expect([runs(), told]).toMatchObject([1, [{ data: { decision: 'allow', by: 'hook', why: 'with other arguments' } }]])
})

it('a deny rule also holds for the arguments that the agent’s function has put in', async () => {
  let looks = 0
  const { tried, runs, sessionId } = await calling('pure', undefined, {
    deny: ['wipe(rm b)'],
    hooks: { canUseTool: () => ({ behavior: 'allow', updatedInput: {} }) },
    hints: {
      touches() {
        const path = looks++ === 0 ? 'a' : 'b'
        return [{ kind: 'command', command: `rm ${path}`, argv: ['rm', path], readonly: false }]
      },
    },
  })
  expect(await tried()).toMatchObject({ isError: true, code: 'TOOL_PERMISSION_DENIED' })
  const told = (await readEvents(at.db, sessionId, 0)).filter(({ type }) => type === 'permission.decided')
  expect([runs(), told]).toMatchObject([0, [{ data: { decision: 'deny', by: 'rule', rule: 'wipe(rm b)' } }]])
})

it('the agent’s function may deny, and end the turn', async () => {
  const { tried, runs, read } = await calling('pure', undefined, {
    hooks: { canUseTool: () => ({ behavior: 'deny', message: 'not today', interrupt: true }) },
  })
  expect(await tried()).toMatchObject({ isError: true, code: 'TOOL_PERMISSION_DENIED', endsTurn: true })
  expect([runs(), await read()]).toEqual([0, 'TOOL_PERMISSION_DENIED: not today'])
})

it('confirm stands in for the person: nobody is asked durably', async () => {
  const asked: string[] = []
  const { tried, open, runs } = await calling('pure', undefined, {
    hooks: { confirm: ({ question }) => asked.push(question) > 1 },
  })
  expect(await tried()).toMatchObject({ isError: true, code: 'TOOL_PERMISSION_DENIED' })
  expect([asked, await open(), runs()]).toEqual([['may "wipe" run?'], [], 0])
})

it('beforeTool sees the call before it begins, and afterTool may change what it returned', async () => {
  const seen: string[] = []
  const { tried, read } = await calling('pure', undefined, {
    hooks: {
      confirm: () => true,
      beforeTool: ({ name }) => void seen.push(name),
      afterTool: (_call, result) => `${String(result)}, and checked`,
    },
  })
  await tried()
  expect([seen, await read()]).toEqual([['wipe'], 'wiped, and checked'])
})
