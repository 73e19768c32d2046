/**
 * What becomes of each kind of step after three workers died with it: no code of the user runs, and people are told.
 */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callForkHook } from '../../src/activities/child/call-fork-hook.ts'
import { callModel } from '../../src/activities/model/call-model.ts'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import type { Deps } from '../../src/activities/deps.ts'
import { LastChance } from '../../src/activities/step/last-chance.ts'
import { openChild } from '../../src/activities/child/open-child.ts'
import { openSession as open } from '../../src/activities/session/open-session.ts'
import { runStep } from '../../src/activities/step/run-step.ts'
import { settleTool } from '../../src/activities/tool/settle-tool.ts'
import type { AgentDefinition } from '../../src/agent/agent.ts'
import { ForkProfileRegistryImpl } from '../../src/agent/profile.ts'
import { type ToolExtras } from '../../src/tool/tool.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionConfig } from '../../src/protocol/config.ts'
import type { CallToolInput } from '../../src/protocol/steps.ts'
import { TAKERS, type ClaimRequest } from '../../src/store/ledger/claim.ts'
import { inputHash, nextRecord } from '../../src/store/ledger/hashes.ts'
import { stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { readQuestions } from '../../src/store/watching/inbox.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { forceStep } from '../../src/store/ledger/settle.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { until } from '../support/until.ts'
import { attempt, depsOf } from './activity.ts'
import { TOKEN, killTakers, newId, newSessionRow, openSession, placeAt, take, visit, write, taker } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { openingCall } from './model-input.ts'
import { attemptOf, work, workerOn } from './steps.ts'

const at = useDatabase()

/** Any code of the user that runs says so here. */
let ran: string[] = []
const runs =
  (what: string) =>
  <T>(answer: T): T => (ran.push(what), answer)

function agentOf(extras: ToolExtras = {}): Omit<AgentDefinition, 'name'> {
  ran = []
  const glob = tool('glob', 'd', z.object({}), () => runs('tool')('found'), extras)
  return {
    llm: scriptedModel(() => runs('model')('hello')),
    systemTools: true,
    onSessionFork: () => runs('hook')(undefined),
    capabilities: {
      tools: [glob],
      profiles: new ForkProfileRegistryImpl().register('told', { contextFn: runs('contextFn') }),
    },
  }
}

interface Call {
  run: RunRef
  deps: Deps
  input: CallToolInput
  request: Partial<ClaimRequest>
}

/** A call whose takers have died. */
async function call(agent: Omit<AgentDefinition, 'name'>, name: string, args: string, deaths = TAKERS): Promise<Call> {
  const deps = depsOf(at.db, agent)
  const run = await openSession(at.db)
  const { sessionId } = run
  const asked = { id: 'c-1', name, arguments: args }
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: [asked] }])
  const { chain } = await deps.transcripts.read(at.db, { sessionId, gen: 0, seq: 1 })
  const kind = name === 'glob' ? 'tool' : 'child'
  const request = { key: 't1.0.0', kind, name, inputHash: inputHash(kind, chain, 0, name, args) } as const
  await killTakers(at.db, run, deaths, request)
  const place = { base: 1, place: placeAt(1), messageId: 'm', round: 0, index: 0, seq: 2 }
  const input = { sessionId, key: request.key, gen: 0, turn: 1, call: { id: 'c-1', name }, ...place }
  return { run, deps, input, request }
}

async function eventsOf({ sessionId }: RunRef): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const { rows } = await at.db.pool.query<{ type: string; data: Record<string, unknown> }>(
    `select type, data from events where session_id = $1 and type <> 'step.taken_over' order by "offset"`,
    [sessionId],
  )
  return rows
}

async function lastRead({ sessionId }: RunRef): Promise<string> {
  const { rows } = await at.db.pool.query<{ content: string }>(
    `select message->>'content' as content from records where session_id = $1 order by seq desc limit 1`,
    [sessionId],
  )
  return rows[0]?.content ?? ''
}

const told = (about: object) =>
  expect.objectContaining({ type: 'step.quarantined', data: { ...about, deaths: TAKERS } })

describe('a tool call', () => {
  const about = { key: 't1.0.0', kind: 'tool', name: 'glob', turn: 1, callId: 'c-1' }

  it.each([
    ['pure', { readOnlyHint: true }, /^TOOL_WORKER_LOST: its worker died 3 times while "glob" ran.*Try another way/],
    ['idempotent', { idempotentHint: true }, /^TOOL_WORKER_LOST: .*It may have taken effect/],
    ['not to be repeated', { verify: () => runs('verify')({ happened: false }) }, /^TOOL_OUTCOME_UNKNOWN: /],
  ])('that is %s is not run: the model reads why, and people are told', async (_effect, extras, text) => {
    const { run, deps, input } = await call(agentOf(extras), 'glob', '{}')
    const counted: string[] = []
    deps.metrics.quarantined = (kind) => void counted.push(kind)
    expect(await attempt(run, () => callTool(deps, input))).toMatchObject({ kind: 'settled', isError: true })
    expect(counted).toEqual(['tool'])
    expect(await lastRead(run)).toMatch(text)
    expect(ran).toEqual([])
    expect(await eventsOf(run)).toEqual([told(about), expect.objectContaining({ type: 'tool.status' })])
  })

  it('that asks a person waits for the person, and runs once more when the person says so', async () => {
    const agent = agentOf({ onUnknownOutcome: 'ask', verify: () => runs('verify')(undefined) })
    const { run, deps, input } = await call(agent, 'glob', '{}')
    const tried = () => attempt(run, () => callTool(deps, input))
    const { item } = (await tried()) as { item: { id: string; kind: 'unknown_outcome' } }
    expect(await readQuestions(at.db, [run.sessionId])).toMatchObject([item])
    expect(await tried()).toMatchObject({ kind: 'pending', item })
    const events = (await eventsOf(run)).map(({ type }) => type)
    expect(events.toSorted()).toEqual(['pending.opened', 'step.quarantined'])
    expect(ran).toEqual([])
    const answer = { id: item.id, decision: 'retry' } as const
    const proposed = { kind: 'answered', answer } as const
    await attempt(run, () => settleTool(deps, { step: input, proposed }))
    expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
    expect(ran).toEqual(['tool'])
  })

  it('that was lost is not looked into by the tool whose verify killed its workers', async () => {
    const agent = agentOf({ verify: () => runs('verify')(undefined) })
    const { run, deps, input, request } = await call(agent, 'glob', '{}', 0)
    await take(at.db, run, request)
    for (let n = 0; n < TAKERS; n++) {
      const holder = { owner: await visit(at.db), token: TOKEN }
      await forceStep(at.db, { run, key: 't1.0.0', kind: 'tool', name: 'glob', holder })
      await stealDeadSteps(at.db, taker('a survivor'))
    }
    const settle = () => settleTool(deps, { step: input, proposed: { kind: 'timedOut' } })
    expect(await attempt(run, settle)).toMatchObject({ kind: 'settled', code: 'TOOL_OUTCOME_UNKNOWN' })
    expect(await eventsOf(run)).toEqual([told(about), expect.objectContaining({ type: 'tool.status' })])
    expect(ran).toEqual([])
  })
})

it('a fork that a model asks for is not prepared: the model reads why', async () => {
  const { run, deps, input } = await call(agentOf(), 'stello_create_session', '{"label":"f","profile":"told"}')
  expect(await attempt(run, () => openChild(deps, input))).toMatchObject({ kind: 'settled', code: 'TOOL_WORKER_LOST' })
  expect(ran).toEqual([])
  const about = { key: 't1.0.0', kind: 'child', name: 'stello_create_session', turn: 1, callId: 'c-1' }
  expect(await eventsOf(run)).toEqual([told(about), expect.objectContaining({ type: 'tool.status' })])
})

it('a hook is skipped', async () => {
  const run = await openSession(at.db)
  const request = {
    key: 't1.0.0.fork',
    kind: 'hook',
    name: 'onSessionFork',
    inputHash: inputHash('fork', 'f'),
  } as const
  await killTakers(at.db, run, TAKERS, request)
  const fork = { parentId: run.sessionId, rootId: run.sessionId, depth: 1, sessionId: 'f', config: { label: 'f' } }
  expect(
    await callForkHook(depsOf(at.db, agentOf()), attemptOf(run), { key: request.key, child: fork }),
  ).toBeUndefined()
  expect(ran).toEqual([])
  expect(await eventsOf(run)).toEqual([told({ key: request.key, kind: 'hook', name: 'onSessionFork', turn: 1 })])
})

it('a model call pauses the session each time, and a resume asks the model again', async () => {
  const deps = depsOf(at.db, agentOf())
  const run = await openSession(at.db)
  const question = nextRecord('', 1, { role: 'user', content: 'hello' })
  const opening = { turn: 1, messageId: 'm', record: question }
  const request = { key: 'm1.0', inputHash: inputHash('model', question.chain), opening } as const
  const tried = () => attempt(run, () => callModel(deps, openingCall(run)))
  for (let n = 1; n <= 2; n++) {
    await killTakers(at.db, run, TAKERS, request)
    const pause = { reason: 'agent_error', message: expect.stringContaining('its worker died 3 times while model') }
    expect(await tried()).toMatchObject({ kind: 'failed', pause })
    expect((await eventsOf(run)).filter(({ type }) => type === 'step.quarantined')).toHaveLength(n)
  }
  expect(ran).toEqual([])
  expect(await tried()).toMatchObject({ kind: 'answered', text: 'hello' })
})

it('a client’s fork pauses the session, and a resume prepares it', async () => {
  const parent = await openSession(at.db)
  await at.db.pool.query(`update sessions set config = config || '{"limits":{}}' where id = $1`, [parent.sessionId])
  const sessionId = newId()
  const config: SessionConfig = {
    ...newSessionRow().config,
    fork: { request: { label: 'f', profile: 'told' }, at: { sessionId: parent.sessionId, gen: 0, seq: 0 } },
  }
  const run = await openSession(at.db, { sessionId, config })
  const request = { key: 'open', kind: 'child', name: 'fork', inputHash: inputHash('open', sessionId) } as const
  await killTakers(at.db, run, TAKERS, request)
  const deps = depsOf(at.db, agentOf())
  const input = { sessionId, key: 'open', gen: 0, turn: 0, base: 0, place: placeAt(0) }
  const tried = () => attempt(run, () => open(deps, input))
  expect(await tried()).toMatchObject({ kind: 'failed', pause: { reason: 'agent_error' } })
  expect(ran).toEqual([])
  expect(await eventsOf(run)).toEqual([told({ key: 'open', kind: 'child', name: 'fork', turn: 0 })])
  expect(await tried()).toMatchObject({ kind: 'opened' })
  expect(ran).toEqual(['contextFn', 'hook'])
})

describe('steps that have killed two takers', () => {
  it('are run one at a time by a worker, and other steps do not wait for them', async () => {
    const asked: unknown[] = []
    const lastChance = new (class extends LastChance {
      override enter(waitedMs: number): (() => void) | undefined {
        const leave = super.enter(waitedMs)
        asked.push(leave)
        return leave
      }
    })(0)
    const deps = { ...workerOn(at.db), lastChance }
    const gates = [createGate(), createGate(), createGate()]
    const [first, second, innocent] = await Promise.all(gates.map(() => openSession(at.db)))
    for (const run of [first, second]) await killTakers(at.db, run as RunRef, 2, { key: 't1.0.0', kind: 'tool' })
    const start = (run: RunRef | undefined, gate = createGate()) =>
      runStep(
        deps,
        attemptOf(run as RunRef),
        work(() => gate.pass().then(() => ({ kind: 'settle', outcome: 'done', writes: {} }))),
      )
    const one = start(first, gates[0])
    await gates[0]?.reached()
    const two = start(second, gates[1])
    const three = start(innocent, gates[2])
    await gates[2]?.reached()
    await until('the second has asked', async () => asked.length > 1)
    expect([asked[1], gates[1]?.arrived]).toEqual([undefined, 0])
    gates[0]?.open()
    await gates[1]?.reached()
    for (const gate of gates) gate.open()
    expect(await Promise.all([one, two, three])).toHaveLength(3)
  })
})
