/** Long tools hold every slot for tools. Everything that needs no such slot goes on as usual. */
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { ask, eventOf, useStello, type TestAgent } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const SLOTS = 3
const WORKERS = inject('workersPerAgent') ?? 1
const small = { concurrency: { models: SLOTS, tools: SLOTS } }
let gate: Gate
let paying: Gate

beforeEach(() => ([gate, paying] = [createGate(), createGate()]))
afterEach(() => [gate, paying].forEach((one) => one.open()))

function holding(): TestAgent {
  const nothing = z.object({})
  const llm = scriptedModel(
    replyBy([
      ['hold', { toolCalls: [{ name: 'hold' }] }],
      ['pay', { toolCalls: [{ name: 'pay' }] }],
      [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
    ]),
  )
  const tools = [
    tool('hold', 'Takes long', nothing, () => gate.pass().then(() => 'held'), { readOnlyHint: true }),
    tool('pay', 'Pays', nothing, () => paying.pass().then(() => 'paid'), { onUnknownOutcome: 'ask' }),
  ]
  return { llm, capabilities: { tools } }
}

/** As many sessions as there are slots call the tool. Each further one waits for a slot. */
async function hold(agent: string): Promise<{ session: SessionHandle; turn: TurnHandle }> {
  const session = await stello.client.createSession({ agent })
  const turn = await session.send('hold')
  await viewOf(stello.client, session, (view) => view.turn?.calls[0]?.status === 'running')
  return { session, turn }
}

async function holdAll(agent: string): Promise<void> {
  await Promise.all(Array.from({ length: SLOTS }, () => hold(agent)))
  await gate.reached(SLOTS)
}

it('lets other sessions be opened, answer, pause, resume and close', async () => {
  const { taskQueue: agent } = await stello.work(holding(), small)
  await holdAll(agent)
  const session = await stello.client.createSession({ agent })
  expect(await ask(session, 'hello')).toBe('read: hello')
  await session.pause('lunch')
  await eventOf(session, 'session.paused')
  const fork = await session.fork({ label: 'fork' })
  expect(await ask(fork, 'hello, fork')).toBe('read: hello, fork')
  await session.resume()
  expect(await ask(session, 'hello again')).toBe('read: hello again')
  await session.close({ cascade: true })
  await eventOf(session, 'session.closed')
  await eventOf(fork, 'session.closed')
})

it('lets a call be cancelled that waits for a slot: it has not begun, and never does', async () => {
  const { taskQueue: agent } = await stello.work(holding(), small)
  await holdAll(agent)
  const { session, turn } = await hold(agent)
  await session.cancelTurn()
  expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
  expect(await ask(session, 'hello')).toBe('read: hello')
  const { session: closing } = await hold(agent)
  await closing.close()
  await eventOf(closing, 'session.closed')
  const { turn: last } = await hold(agent)
  gate.open()
  expect((await last.result()).text).toBe('read: held')
  expect(gate.arrived).toBe(SLOTS + 1)
})

it('lets a person answer what waits for one', async () => {
  const agent = holding()
  const first = await stello.work(agent)
  const session = await stello.client.createSession({ agent: first.taskQueue })
  const turn = await session.send('pay')
  await paying.reached()
  await first.stop()
  await stello.work({ ...agent, name: first.taskQueue }, small)
  const { data } = await eventOf(session, 'pending.opened')
  await holdAll(first.taskQueue)
  await session.answer(String(fieldOf(data, 'id')), { decision: 'done', text: 'paid 3' })
  expect((await turn.result()).text).toBe('read: paid 3')
})

it('runs as many as it has slots for: half of them beside its model calls, the others in a queue of their own', async () => {
  const { taskQueue: agent } = await stello.work(holding(), small)
  const held = await Promise.all(Array.from({ length: SLOTS + 1 }, () => hold(agent)))
  await gate.reached(SLOTS)
  await vi.waitFor(
    async () => {
      const queues = (await Promise.all(held.map(({ session }) => queuesOf(session)))).map(String)
      expect(new Set(queues)).toEqual(new Set(['here', 'here,tools']))
      expect(queues.filter((tried) => tried === 'here').length).toBeLessThanOrEqual(WORKERS)
    },
    { timeout: 60_000 },
  )
  expect(gate.arrived).toBeLessThanOrEqual(SLOTS * WORKERS)
  gate.open()
  const answers = await Promise.all(held.map(({ turn }) => turn.result()))
  expect(answers.map(({ text }) => text)).toEqual(held.map(() => 'read: held'))
  expect(gate.arrived).toBe(SLOTS + 1)
})

/** Where its tool was to run, one queue after another. */
async function queuesOf({ id }: SessionHandle): Promise<string[]> {
  const { events } = await stello.client.temporal.workflow.getHandle(id).fetchHistory()
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: one }) =>
    one?.activityType?.name === 'callTool' ? [one.taskQueue?.name?.endsWith(' tools') ? 'tools' : 'here'] : [],
  )
}
