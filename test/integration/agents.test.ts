/** Agents: children that are spawned, asked again and again, waited for and closed. */
import { describe, expect, it } from 'vitest'
import type { CapabilityPack } from '../../src/agent/capability-pack.ts'
import { agents, subagents } from '../../src/capabilities/index.ts'
import { replyBy, scriptedModel, type ScriptFunction, type ScriptedModel } from '../../src/testing/index.ts'
import { onlyChild } from '../support/forks.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()

type Call = { name: string; arguments: object }
const call = (name: string, args: object): Call => ({ name, arguments: args })

/** A parent that calls what it is told to call, and agents that answer with what they were told. */
function orchestra(gate?: Gate): { model: ScriptedModel; calls: Call[] } {
  const calls: Call[] = []
  const model = scriptedModel(
    replyBy([
      ['call', () => ({ toolCalls: calls.splice(0) })],
      [
        /^slowly /,
        async ({ messages }) => {
          await gate?.pass()
          return `done ${messages.at(-1)?.content}`
        },
      ],
      [
        /^say /,
        ({ messages }) =>
          `heard ${messages
            .filter(({ role }) => role === 'user')
            .map(({ content }) => content)
            .join(', ')}`,
      ],
      [{ tool: 'spawn-agent' }, ({ messages }) => messages.at(-1)?.content ?? ''],
      [{ tool: 'send-input' }, ({ messages }) => messages.at(-1)?.content ?? ''],
      [{ tool: 'wait-agent' }, ({ messages }) => messages.at(-1)?.content ?? ''],
      [{ tool: 'close-agent' }, ({ messages }) => messages.at(-1)?.content ?? ''],
    ]),
  )
  return { model, calls }
}

async function useOrchestra(gate?: Gate, more: CapabilityPack[] = []) {
  const { model, calls } = orchestra(gate)
  const session = await stello.session({ llm: model, capabilities: { packs: [agents(), ...more] } })
  const run = async (...wanted: Call[]): Promise<Record<string, unknown>> => {
    calls.push(...wanted)
    const said = await ask(session, 'call')
    try {
      return JSON.parse(said) as Record<string, unknown>
    } catch {
      return { said }
    }
  }
  return { session, run, calls }
}

describe('an agent', () => {
  it('is spawned, waited for, and asked again with all that it knows, also after it was closed', async () => {
    const { session, run } = await useOrchestra()
    const { agentId } = await run(call('spawn-agent', { displayName: 'echo', message: 'say one' }))
    const heard = (text: string) => ({
      status: { [agentId as string]: { status: 'completed', name: 'echo', text } },
      timed_out: false,
    })
    const wait = call('wait-agent', { agentIds: [agentId] })
    expect(await run(wait)).toEqual(heard('heard say one'))
    await run(call('send-input', { agentId, message: 'say two' }))
    expect(await run(wait)).toEqual(heard('heard say one, say two'))
    expect(await run(call('close-agent', { agentId }))).toEqual({ previous_status: 'completed' })
    expect(await run(call('close-agent', { agentId }))).toEqual({ previous_status: 'shutdown' })
    expect(await run(wait)).toMatchObject({ status: { [agentId as string]: { status: 'shutdown' } } })
    await run(call('send-input', { agentId, message: 'say three' }))
    expect(await run(wait)).toEqual(heard('heard say one, say two, say three'))
    expect((await session.tree()).children.map(({ id }) => id)).toEqual([agentId])
    const turns: number[] = []
    for await (const event of stello.client.session(agentId as string).watch()) {
      if (event.type === 'turn.completed' && turns.push(event.data.turn) === 3) break
    }
    expect(turns).toEqual([1, 2, 3])
  })

  it('that is slow is waited for without a worker, and then wakes its parent', async () => {
    const gate = createGate()
    const { session, run, calls } = await useOrchestra(gate)
    const { agentId } = await run(call('spawn-agent', { message: 'slowly one' }))
    await gate.reached()
    calls.push(call('wait-agent', { agentIds: agentId }))
    const turn = await session.send('call')
    await expect.poll(async () => (await session.state()).state).toBe('waiting')
    expect((await session.state()).inHand).toEqual([])
    gate.open()
    expect(JSON.parse((await turn.result()).text)).toMatchObject({
      status: { [agentId as string]: { status: 'completed', text: 'done slowly one' } },
    })
  })

  it('may be waited for with others: until any has finished, until all have, or until the time is over', async () => {
    const gate = createGate()
    const { run } = await useOrchestra(gate)
    const { agentId: slow } = await run(call('spawn-agent', { message: 'slowly one' }))
    const { agentId: quick } = await run(call('spawn-agent', { message: 'say two' }))
    const wait = (args: object) => run(call('wait-agent', { agentIds: [slow, quick], ...args }))
    const found = (slowly: string, timedOut: boolean) => ({
      status: { [slow as string]: { status: slowly }, [quick as string]: { status: 'completed' } },
      timed_out: timedOut,
    })
    expect(await wait({ match: 'any' })).toMatchObject(found('running', false))
    expect(await wait({ timeout_ms: 50 })).toMatchObject(found('running', true))
    expect(await wait({ timeout_ms: 0 })).toMatchObject(found('running', true))
    gate.open()
    expect(await wait({ match: 'all', timeout_ms: 600_000 })).toMatchObject(found('completed', false))
  })

  it('whose turn was cancelled, or whose workflow was ended, is reported as a failure and may be asked again', async () => {
    const gate = createGate()
    const { session, run, calls } = await useOrchestra(gate)
    const { agentId } = await run(call('spawn-agent', { message: 'slowly one' }))
    await gate.reached()
    const child = await onlyChild(stello.client, session)
    calls.push(call('wait-agent', { agentIds: [agentId] }))
    const turn = await session.send('call')
    await expect.poll(async () => (await session.state()).state).toBe('waiting')
    await child.cancelTurn()
    const errored = { status: { [agentId as string]: { status: 'errored' } } }
    expect(JSON.parse((await turn.result()).text)).toMatchObject(errored)
    await stello.client.temporal.workflow.getHandle(child.id).terminate()
    gate.open()
    await run(call('send-input', { agentId, message: 'say two' }))
    expect(await run(call('wait-agent', { agentIds: [agentId] }))).toMatchObject({
      status: { [agentId as string]: { status: 'completed', text: 'heard slowly one, say two' } },
    })
  })

  it('whose workflow was ended is told at once to who waits until it is closed', async () => {
    const { run } = await useOrchestra()
    const { agentId } = await run(call('spawn-agent', { message: 'say one' }))
    await run(call('wait-agent', { agentIds: [agentId] }))
    await stello.client.temporal.workflow.getHandle(agentId as string).terminate()
    expect(await run(call('wait-agent', { agentIds: [agentId], kind: 'agent-closed' }))).toMatchObject({
      status: { [agentId as string]: { status: 'errored', text: expect.stringContaining('ended from outside') } },
      timed_out: false,
    })
  })

  it('takes a message while its packs still end what it has left, also if one attempt waits in vain', async () => {
    const gate = createGate()
    const slow: CapabilityPack = { name: 'slow', tools: [], sessionClosed: () => gate.pass() }
    const { run } = await useOrchestra(undefined, [slow])
    const { agentId } = await run(call('spawn-agent', { message: 'say one' }))
    await run(call('wait-agent', { agentIds: [agentId] }))
    await run(call('close-agent', { agentId }))
    await gate.reached()
    const sent = run(call('send-input', { agentId, message: 'say two' }))
    const failing = `select from steps where name = 'send-input' and failures > 0`
    const tried = async (): Promise<boolean> => (await stello.db.pool.query(failing)).rowCount === 1
    await Promise.race([sent, until('an attempt has waited in vain', tried)])
    gate.open()
    await sent
    expect(await run(call('wait-agent', { agentIds: [agentId] }))).toMatchObject({
      status: { [agentId as string]: { status: 'completed', text: 'heard say one, say two' } },
    })
  })

  it('is interrupted by a message that asks for it', async () => {
    const gate = createGate()
    const { run } = await useOrchestra(gate)
    const { agentId } = await run(call('spawn-agent', { message: 'slowly one' }))
    await gate.reached()
    await run(call('send-input', { agentId, message: 'say two', interrupt: true, id: 'two' }))
    await run(call('send-input', { agentId, message: 'say two', id: 'two' }))
    expect(await run(call('wait-agent', { agentIds: [agentId] }))).toMatchObject({
      status: { [agentId as string]: { status: 'completed', text: 'heard slowly one, say two' } },
    })
    gate.open()
  })

  it('that this session has not spawned, or whose profile does not exist, is an error that the model reads', async () => {
    const { session, run } = await useOrchestra()
    const other = await session.fork({ label: 'a fork' })
    expect(await run(call('send-input', { agentId: other.id, message: 'say one' }))).toMatchObject({
      said: expect.stringContaining('this session has no agent'),
    })
    expect(await run(call('wait-agent', { agentIds: ['s-nowhere'] }))).toMatchObject({
      status: { 's-nowhere': { status: 'not_found' } },
    })
    expect(await run(call('spawn-agent', { role: 'judge', message: 'say one' }))).toMatchObject({
      said: expect.stringContaining('unknown profile "judge"'),
    })
  })

  it('is closed together with everything below it, and with its parent', async () => {
    const { session, run } = await useOrchestra()
    await run(call('spawn-agent', { message: 'say one' }))
    const child = await onlyChild(stello.client, session)
    const below = await child.fork({ label: 'below' })
    await run(call('close-agent', { agentId: child.id }))
    await eventOf(below, 'session.closed')
    await session.close({ cascade: true })
    await eventOf(session, 'session.closed')
    expect((await child.state()).state).toBe('closed')
  })

  it('is no longer waited for when the turn is stopped, but goes on', async () => {
    const gate = createGate()
    const { session, run, calls } = await useOrchestra(gate)
    const { agentId } = await run(call('spawn-agent', { message: 'slowly one' }))
    calls.push(call('wait-agent', { agentIds: [agentId] }))
    const turn = await session.send('call')
    await expect.poll(async () => (await session.state()).state).toBe('waiting')
    await session.cancelTurn()
    expect((await turn.result()).stopReason).toBe('cancelled')
    gate.open()
    expect(await run(call('wait-agent', { agentIds: [agentId] }))).toMatchObject({
      status: { [agentId as string]: { text: 'done slowly one' } },
    })
  })
})

describe('a Task', () => {
  const useTasks = async (gate?: Gate) => {
    const calls: Call[] = []
    const said: ScriptFunction = ({ messages }) => messages.at(-1)?.content ?? ''
    const llm = scriptedModel(
      replyBy([
        ['call', () => ({ toolCalls: calls.splice(0) })],
        [/^Agent /, said],
        [
          /^slowly /,
          async ({ messages }) => {
            await gate?.pass()
            return `done ${messages.at(-1)?.content}`
          },
        ],
        [/^say /, ({ messages }) => `heard ${messages.at(-1)?.content} of ${messages.length}`],
        [{ tool: 'Task' }, said],
        [{ tool: 'TaskOutput' }, said],
        [{ tool: 'TaskStop' }, said],
      ]),
    )
    const session = await stello.session({ llm, capabilities: { packs: [subagents()] } })
    const send = (...wanted: Call[]) => {
      calls.push(...wanted)
      return session.send('call')
    }
    return { session, send, run: async (...wanted: Call[]) => (await (await send(...wanted)).result()).text }
  }

  it('is answered by an agent of its own, which goes on when it is resumed', async () => {
    const { run } = await useTasks()
    const answer = await run(call('Task', { description: 'say it', prompt: 'say one' }))
    expect(answer).toMatch(/^heard say one of 1\n\nagentId: say-it-/)
    const resume = answer.split('agentId: ')[1]
    expect(await run(call('Task', { description: 'again', prompt: 'say two', resume }))).toContain('heard say two of 3')
    expect(await run(call('Task', { description: 'x', prompt: 'y', subagent_type: 'judge' }))).toContain(
      'unknown profile "judge"',
    )
  })

  it('in the background returns at once, is read and stopped by its id, and tells its session when it has finished', async () => {
    const gate = createGate()
    const { session, run } = await useTasks(gate)
    const launched = await run(call('Task', { description: 'slow', prompt: 'slowly one', run_in_background: true }))
    expect(JSON.parse(launched)).toMatchObject({ status: 'async_launched' })
    const { agentId } = JSON.parse(launched) as { agentId: string }
    expect(await run(call('TaskOutput', { task_id: agentId, block: false }))).toBe('<status>running</status>')
    await gate.reached()
    gate.open()
    await expect
      .poll(async () => (await session.transcript()).map(({ content }) => content))
      .toContainEqual(expect.stringContaining(`(${agentId}) has finished:\ndone slowly one`))
    const output = '<status>completed</status>\n<output>\ndone slowly one\n</output>'
    expect(await run(call('TaskOutput', { task_id: agentId }))).toBe(output)
    expect(JSON.parse(await run(call('TaskStop', { task_id: agentId })))).toMatchObject({ already_exited: true })
    expect(await run(call('TaskOutput', { task_id: agentId }))).toContain('<status>killed</status>')
    expect(await run(call('TaskStop', { task_id: 's-nothing' }))).toContain('was started in this session')
  })

  it('that is waited for stops with its turn', async () => {
    const gate = createGate()
    const { session, send } = await useTasks(gate)
    const turn = await send(call('Task', { description: 'slow', prompt: 'slowly one' }))
    await gate.reached()
    await expect.poll(async () => (await session.state()).state).toBe('waiting')
    await session.cancelTurn()
    expect((await turn.result()).stopReason).toBe('cancelled')
    const child = await onlyChild(stello.client, session)
    await eventOf(child, 'turn.completed')
    expect((await child.transcript()).map(({ content }) => content)).not.toContain('done slowly one')
    gate.open()
  })
})
