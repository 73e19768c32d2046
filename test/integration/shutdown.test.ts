/** A worker is asked to stop: what may be repeated is handed over, and what may not is never run twice. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createStelloAgent } from '../../src/agent/agent.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type Script } from '../../src/testing/index.ts'
import { startWorker } from '../../src/worker.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello()
const script = replyBy([
  ['look', { toolCalls: [{ name: 'look' }] }],
  ['pay', { toolCalls: [{ name: 'pay' }] }],
  [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
])

interface Stage {
  session: SessionHandle
  /** The gate where the tools of both workers wait. */
  gate: Gate
  /** Stops the first worker and starts the second. */
  change(): Promise<void>
}

async function setStage(firstScript: (gate: Gate) => Script): Promise<Stage> {
  const gate = createGate()
  const wait = (label: string) => async (): Promise<string> => {
    await gate.pass()
    return `${label} done`
  }
  const tools = [
    tool('look', 'Looks', z.object({}), wait('look'), { readOnlyHint: true }),
    tool('pay', 'Pays', z.object({}), wait('pay')),
  ]
  const agent = (given: Script): TestAgent => ({ llm: scriptedModel(given), capabilities: { tools } })
  const first = await stello.work(agent(firstScript(gate)))
  const session = await stello.client.createSession({ agent: first.taskQueue })
  return {
    session,
    gate,
    async change() {
      await first.stop()
      await stello.work({ ...agent(script), name: first.taskQueue })
    },
  }
}

describe('a worker that stops', () => {
  it('during a model call leaves it to the next', async () => {
    const { session, gate, change } = await setStage((held) => async () => {
      await held.pass()
      return 'from the first'
    })
    const turn = await session.send('hello')
    await gate.reached()
    await change()
    expect((await turn.result()).text).toBe('read: hello')
    expect(await session.transcript()).toHaveLength(2)
  })

  it('during a pure tool leaves it to the next', async () => {
    const { session, gate, change } = await setStage(() => script)
    const turn = await session.send('look')
    await gate.reached()
    await change()
    await gate.reached(2)
    gate.open()
    expect((await turn.result()).text).toBe('read: look done')
  })

  it('during a tool with an effect leaves its outcome unknown', async () => {
    const { session, gate, change } = await setStage(() => script)
    const turn = await session.send('pay')
    await gate.reached()
    await change()
    expect((await turn.result()).text).toContain('read: TOOL_OUTCOME_UNKNOWN')
    expect(gate.arrived).toBe(1)
  })

  it('does not wait for a call whose workflow was terminated', async () => {
    const { session, gate, change } = await setStage(() => script)
    const turn = await session.send('pay')
    await gate.reached()
    await stello.client.temporal.workflow.getHandle(session.id).terminate()
    // By then, the answer to a heartbeat has said that there is no such activity.
    await expect(turn.result()).rejects.toMatchObject({ code: 'SESSION_TERMINATED' })
    await change()
    expect(gate.arrived).toBe(1)
  })
})

it('a worker that stops gives running work ten seconds, unless it was told otherwise', async () => {
  const gate = createGate()
  const pay = tool('pay', 'Pays', z.object({}), async () => {
    await gate.pass()
    await delay(3000)
    return 'paid'
  })
  const agent = createStelloAgent({ name: 'graceful', llm: scriptedModel(script), capabilities: { tools: [pay] } })
  const log = { info: () => undefined, warn: () => undefined }
  const worker = await startWorker({ agent, ...stello.servers, log })
  const session = await stello.client.createSession({ agent: agent.name })
  await session.send('pay')
  await gate.reached()
  const stopped = worker.stop()
  gate.open()
  await stopped
  expect((await session.transcript()).at(-1)).toMatchObject({ role: 'tool', content: 'paid' })
})

it('a worker that has ended by itself leaves no timer behind when it is stopped afterwards', async () => {
  const worker = await stello.work({ llm: scriptedModel([]) }, { shutdownGraceMs: 60_000 })
  // Temporal's runtime ends its workers by itself on a signal to the process.
  process.emit('SIGUSR2')
  await worker.stopped
  const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = timers()
  await worker.stop()
  expect(timers()).toBeLessThanOrEqual(before)
})
