/**
 * `{ tree: true }`: a pause, a resume and a cancel reach all open sessions below, and those that are just being forked.
 */
import { describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type Rule, type ScriptedModel } from '../../src/testing/index.ts'
import { profiles } from '../support/forks.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { ask, eventOf, useStello, type TestAgent } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()

/** A session that is told `go` awaits a task. The fork of that task comes to the gate while it is made. */
function forkingAt(gate: Gate, more: Rule[] = []): TestAgent & { llm: ScriptedModel } {
  const slowly = { contextFn: () => gate.pass().then(() => []) }
  const call = { name: 'new_task', arguments: { label: 'late', message: 'deep', profile: 'slowly' } }
  const llm = scriptedModel(replyBy([['go', { toolCalls: [call] }], ...more, [() => true, 'done']]))
  return { llm, systemTools: true, capabilities: { profiles: profiles({ slowly }) } }
}

const stateOf = async (session: SessionHandle): Promise<string> => (await session.state()).state
const paused = (session: SessionHandle) =>
  until('the session is paused', async () => (await stateOf(session)) === 'paused')
const terminate = ({ id }: SessionHandle) => stello.client.temporal.workflow.getHandle(id).terminate()

describe('a tree', () => {
  it('is paused and resumed as a whole, with what is being forked at that moment', async () => {
    const gate = createGate()
    const agent = forkingAt(gate)
    const session = await stello.session(agent)
    const aside = await session.fork({ label: 'aside' })
    await ask(aside, 'hello')
    const turn = await session.send('go')
    await gate.reached()
    const asked = agent.llm.calls.length
    expect(await session.pause({ reason: 'lunch', tree: true })).toEqual({ sessions: 2, lost: [] })
    for (const one of [session, aside]) await paused(one)
    gate.open()
    const late = await until('the task is forked', async () => {
      const { children } = await session.tree()
      return children.find(({ label }) => label === 'late')
    })
    expect(late).toMatchObject({ state: 'paused', pause: { reason: 'user', message: 'lunch' } })
    const child = stello.client.session(late.id)
    expect((await eventOf(child, 'session.paused')).data).toEqual({ reason: 'user', message: 'lunch' })
    expect(agent.llm.calls).toHaveLength(asked)

    expect(await session.resume({ tree: true })).toEqual({ sessions: 3, lost: [] })
    expect((await turn.result()).text).toBe('done')
    expect(await stateOf(aside)).toBe('idle')
    expect(await stello.client.inbox(session.id)).toEqual([])
  })

  it('is cancelled as a whole: a fork that is being made does nothing', async () => {
    const [gate, held] = [createGate(), createGate()]
    const agent = forkingAt(gate, [['busy', () => held.pass().then(() => 'late')]])
    const session = await stello.session(agent)
    const aside = await session.fork({ label: 'aside' })
    const turns = [await aside.send('busy'), await session.send('go')]
    await Promise.all([gate.reached(), held.reached()])
    expect(await session.cancelTurn({ tree: true })).toEqual({ sessions: 2, lost: [] })
    const stops = await Promise.all(turns.map(async (turn) => (await turn.result()).stopReason))
    expect(stops).toEqual(['cancelled', 'cancelled'])
    gate.open()
    held.open()
    expect(new Set(agent.llm.calls.map(({ messages }) => messages.at(-1)?.content))).toEqual(new Set(['busy', 'go']))
  })

  it('is reached below a closed session; sessions whose workflow is gone are named', async () => {
    const session = await stello.session({ llm: scriptedModel(() => 'done') })
    await ask(session, 'hello')
    const [one, two] = [await session.fork({ label: 'one' }), await session.fork({ label: 'two' })]
    for (const fork of [one, two]) await ask(fork, 'hello')
    await session.close()
    await eventOf(session, 'session.closed')
    await terminate(two)
    expect(await session.pause({ tree: true })).toEqual({ sessions: 1, lost: [two.id] })
    await paused(one)
    await expect(session.pause()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  })
})

describe('without the tree', () => {
  it('one session is told, and its forks go on', async () => {
    const session = await stello.session({ llm: scriptedModel(() => 'done') })
    const fork = await session.fork({ label: 'aside' })
    expect(await session.pause('lunch')).toEqual({ sessions: 1, lost: [] })
    await paused(session)
    expect(await ask(fork, 'hello')).toBe('done')
    const later = await session.fork({ label: 'later' })
    expect(await ask(later, 'hello')).toBe('done')
  })

  it.each([
    ['pause', { trees: true }, 'trees is no field of it'],
    ['resume', { tree: 'yes' }, 'tree must be a boolean'],
    ['cancelTurn', { reason: 'x' }, 'reason is no field of it'],
  ] as const)('%s refuses %o', async (method, options, problem) => {
    const session = stello.client.session('s-nowhere')
    await expect(session[method](options as object)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(problem) as string,
    })
    await expect(session[method]({ tree: true })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })
})
