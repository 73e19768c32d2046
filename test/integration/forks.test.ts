/** Child sessions that the model asks for. */
import { describe, expect, it } from 'vitest'
import type { SessionFork } from '../../src/agent/agent.ts'
import type { Message } from '../../src/core/message.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { childId, readOpeningKey } from '../../src/protocol/keys.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { NO_CHAIN, nextRecord } from '../../src/store/ledger/hashes.ts'
import type { NewRecord } from '../../src/store/ledger/writes.ts'
import { replyBy, scriptedModel, type Rule, type ScriptedModel } from '../../src/testing/index.ts'
import { NEW_RUN } from '../store/fixtures.ts'
import { onlyChild, profiles } from '../support/forks.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { ask, eventOf, useStello, type TestAgent } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()

const forking = (args: object): Rule[] => [
  ['fork', { toolCalls: [{ name: 'stello_create_session', arguments: { label: 'child', ...args } }] }],
  [{ tool: 'stello_create_session' }, 'forked'],
  [() => true, 'said'],
]

/** The id that the child of the running call has. */
async function childIdOf({ id }: SessionHandle): Promise<string> {
  const { rows } = await stello.db.pool.query<{ step_key: string; input_hash: string }>(
    `select step_key, input_hash from steps where session_id = $1 and kind = 'child'`,
    [id],
  )
  const [{ step_key, input_hash } = { step_key: '', input_hash: '' }] = rows
  return childId({ sessionId: id, key: readOpeningKey(step_key) ?? step_key, inputHash: input_hash }, ['child'])
}

/** The messages that the model of the child reads when it is asked something. */
async function shownToChild(session: SessionHandle, llm: ScriptedModel): Promise<Message[]> {
  expect(await ask(session, 'fork')).toBe('forked')
  expect(await ask(await onlyChild(stello.client, session), 'hello child')).toBe('said')
  return llm.calls.at(-1)?.messages ?? []
}

describe('stello_create_session', () => {
  it('answers with id and label, and the child begins empty with the prompt of its parent', async () => {
    const llm = scriptedModel(replyBy(forking({})))
    const session = await stello.session({ llm, systemPrompt: 'You are P.' })
    const shown = await shownToChild(session, llm)
    expect(shown).toEqual([
      { role: 'system', content: 'You are P.' },
      { role: 'user', content: 'hello child' },
    ])
    const result = (await session.transcript()).find(({ role }) => role === 'tool')
    expect(JSON.parse(result?.content ?? '')).toEqual({
      sessionId: (await onlyChild(stello.client, session)).id,
      label: 'child',
    })
  })

  it('inherits the transcript up to the message that asked for the fork, and nothing after it', async () => {
    const llm = scriptedModel(replyBy([['first', 'First.'], ...forking({ context: 'inherit' })]))
    const session = await stello.session({ llm })
    await ask(session, 'first')
    const shown = await shownToChild(session, llm)
    expect(shown.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'first'],
      ['assistant', 'First.'],
      ['user', 'fork'],
      ['user', 'hello child'],
    ])
  })

  it('lets the child begin with a first message of the assistant', async () => {
    const llm = scriptedModel(replyBy(forking({ prompt: 'How can I help?' })))
    const session = await stello.session({ llm })
    const shown = await shownToChild(session, llm)
    expect(shown).toEqual([
      { role: 'assistant', content: 'How can I help?' },
      { role: 'user', content: 'hello child' },
    ])
  })

  it.each([
    ['prepend', 'Profile.\n\nAsked.'],
    ['append', 'Asked.\n\nProfile.'],
    ['preset', 'Profile.'],
  ] as const)('composes the system prompt by the profile’s mode %s', async (systemPromptMode, prompt) => {
    const llm = scriptedModel(replyBy(forking({ profile: 'p', systemPrompt: 'Asked.' })))
    const session = await stello.session({
      llm,
      systemPrompt: 'Parent.',
      capabilities: { profiles: profiles({ p: { systemPrompt: 'Profile.', systemPromptMode } }) },
    })
    const shown = await shownToChild(session, llm)
    expect(shown[0]).toEqual({ role: 'system', content: prompt })
  })

  it('lets contextFn decide what the child knows, and drops calls and results without their other half', async () => {
    const seen: Message[][] = []
    const contextFn = async (records: Message[]): Promise<Message[]> => {
      seen.push(records)
      return [{ role: 'tool', toolCallId: 'gone', content: 'orphan' }, ...records.slice(-1)]
    }
    const llm = scriptedModel(replyBy([['first', 'First.'], ...forking({ profile: 'p', context: 'inherit' })]))
    const session = await stello.session({
      llm,
      capabilities: { profiles: profiles({ p: { contextFn, context: 'none' } }) },
    })
    await ask(session, 'first')
    const shown = await shownToChild(session, llm)
    expect(seen.map((records) => records.map(({ content }) => content))).toEqual([['first', 'First.', 'fork']])
    expect(shown.map(({ content }) => content)).toEqual(['fork', 'hello child'])
    expect(stello.warnings.filter((warning) => warning.includes('contextFn'))).toHaveLength(1)
  })

  it.each([
    ['an unknown profile', { profile: 'q' }, /TOOL_VALIDATION_ERROR.*"?p"?/s],
    ['a var that is missing', { profile: 'p' }, /TOOL_VALIDATION_ERROR.*"state" is missing/s],
  ])('answers %s with an error and creates no session', async (_what, args, problem) => {
    const llm = scriptedModel(replyBy(forking(args)))
    const session = await stello.session({
      llm,
      capabilities: { profiles: profiles({ p: { systemPrompt: (vars) => `State ${vars['state']}.` } }) },
    })
    expect(await ask(session, 'fork')).toBe('forked')
    const result = llm.calls.at(-1)?.messages.at(-1)
    expect(result).toMatchObject({ role: 'tool', isError: true, content: expect.stringMatching(problem) as string })
    expect((await session.tree()).children).toEqual([])
  })

  it.each(['stello_create_session', 'new_task'])(
    'tells the model of %s when the id of the child belongs to another session, which goes on alone',
    async (name) => {
      const gate = createGate()
      const contextFn = (records: Message[]): Promise<Message[]> => gate.pass().then(() => records)
      const call = { name, arguments: { label: 'child', profile: 'p', message: 'do it' } }
      const llm = scriptedModel(
        replyBy([
          ['fork', { toolCalls: [call] }],
          [{ tool: name }, 'forked'],
          ['hello', 'hi'],
        ]),
      )
      const session = await stello.session({
        llm,
        systemTools: true,
        capabilities: { profiles: profiles({ p: { contextFn } }) },
      })
      const turn = await session.send('fork')
      await gate.reached()
      const { agent } = await session.state()
      const stranger = await stello.client.createSession({ agent, sessionId: await childIdOf(session) })
      expect(await ask(stranger, 'hello')).toBe('hi')
      gate.open()
      expect((await turn.result()).text).toBe('forked')
      const problem = expect.stringMatching(/TOOL_EXECUTION_ERROR.*exists already/s) as string
      expect(llm.calls.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', isError: true, content: problem })
      expect((await session.tree()).children).toEqual([])
      expect((await stranger.transcript()).map(({ content }) => content)).toEqual(['hello', 'hi'])
    },
  )

  it('gives a child the model of its profile', async () => {
    const [main, other] = [scriptedModel(replyBy(forking({ profile: 'p' }))), scriptedModel(['from the other'])]
    const session = await stello.session({ llm: main, capabilities: { profiles: profiles({ p: { llm: other } }) } })
    await ask(session, 'fork')
    expect(await ask(await onlyChild(stello.client, session), 'hello')).toBe('from the other')
  })

  it('lets a child fork again', async () => {
    const session = await stello.session({ llm: scriptedModel(replyBy(forking({}))) })
    await ask(session, 'fork')
    const child = await onlyChild(stello.client, session)
    await ask(child, 'fork')
    const grandchild = await onlyChild(stello.client, child)
    expect(await ask(grandchild, 'hello')).toBe('said')
    expect(await session.tree()).toMatchObject({ depth: 0, children: [{ depth: 1, children: [{ depth: 2 }] }] })
    expect((await session.tree()).children[0]?.branch?.turn).toBe(1)
  })

  it('calls onSessionFork once for each fork', async () => {
    const forks: SessionFork[] = []
    const session = await stello.session({
      llm: scriptedModel(replyBy(forking({}))),
      onSessionFork: (fork) => void forks.push(fork),
    })
    await ask(session, 'fork')
    const child = await onlyChild(stello.client, session)
    await ask(child, 'hello')
    const own = await session.fork({ label: 'of the client' })
    await ask(own, 'hello')
    const below = { parentId: session.id, rootId: session.id, depth: 1 }
    expect(forks).toEqual([
      { ...below, sessionId: child.id, label: 'child' },
      { ...below, sessionId: own.id, label: 'of the client' },
    ])
  })
})

describe('onSessionFork of a fork that is paused while its context is made', () => {
  const forkingSlowly = (): { gate: Gate; agent: TestAgent; forks: string[] } => {
    const gate = createGate()
    const forks: string[] = []
    const contextFn = (records: Message[]): Promise<Message[]> => gate.pass().then(() => records.slice(0, 0))
    const agent = {
      llm: scriptedModel(replyBy(forking({ profile: 'p' }))),
      capabilities: { profiles: profiles({ p: { contextFn } }) },
      onSessionFork: ({ sessionId }: SessionFork) => void forks.push(sessionId),
    }
    return { gate, agent, forks }
  }
  const pausedAt = async (session: SessionHandle, { reached, open }: Gate): Promise<void> => {
    await reached()
    await session.pause('lunch')
    await eventOf(session, 'session.paused')
    open()
    const handle = stello.client.temporal.workflow.getHandle(session.id)
    await until('the activity has ended', async () => !(await handle.describe()).raw.pendingActivities?.length)
  }

  it('is called after the resume, for a fork that a model has asked for', async () => {
    const { gate, agent, forks } = forkingSlowly()
    const session = await stello.session(agent)
    const turn = await session.send('fork')
    await pausedAt(session, gate)
    expect(forks).toEqual([])
    await session.resume()
    expect((await turn.result()).text).toBe('forked')
    expect(forks).toEqual([(await onlyChild(stello.client, session)).id])
    expect(gate.arrived).toBe(1)
  })

  it('is called after the resume, for a fork that a client has asked for', async () => {
    const { gate, agent, forks } = forkingSlowly()
    const session = await stello.session(agent)
    const child = await session.fork({ label: 'of the client', profile: 'p' })
    await pausedAt(child, gate)
    expect(forks).toEqual([])
    await child.resume()
    expect(await ask(child, 'hello')).toBe('said')
    expect(forks).toEqual([child.id])
    expect(gate.arrived).toBe(1)
  })
})

describe('inheriting', () => {
  it('copies nothing, however long the parent is', async () => {
    const name = `long-${Date.now()}`
    const session = await stello.client.createSession({ agent: name })
    const { runId } = await stello.client.temporal.workflow.getHandle(session.id).describe()
    const records: NewRecord[] = []
    for (let seq = 1; seq <= 2000; seq++) {
      const role = seq % 2 ? 'user' : 'assistant'
      records.push(nextRecord(records.at(-1)?.chain ?? NO_CHAIN, seq, { role, content: `record ${seq}` }))
    }
    await announceFacts(
      stello.db,
      { ...NEW_RUN, sessionId: session.id, runId, gen: 0, turn: 0, place: { seq: 0, told: 0 } },
      { key: 'seed', writes: { records } },
    )
    const llm = scriptedModel(replyBy(forking({ context: 'inherit' })))
    await stello.work({ name, llm })
    expect(await ask(session, 'fork')).toBe('forked')
    const child = await onlyChild(stello.client, session)
    expect(await recordsOf(child)).toBe(0)
    expect(await ask(child, 'hello child')).toBe('said')
    const shown = llm.calls.at(-1)?.messages ?? []
    expect([shown.length, shown[1999]?.content, shown.at(-1)?.content]).toEqual([2002, 'record 2000', 'hello child'])
    expect(await recordsOf(child)).toBe(2)
  })
})

async function recordsOf({ id }: SessionHandle): Promise<number> {
  const { rows } = await stello.db.pool.query<{ count: number }>(
    'select count(*)::int from records where session_id = $1',
    [id],
  )
  return rows[0]?.count ?? -1
}
