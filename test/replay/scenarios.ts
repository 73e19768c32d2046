/**
 * Everything in a session that gives its workflow another kind of history. The script of their only agent is here too.
 */
import { z } from 'zod'
import { type ToolExtras } from '../../src/tool/tool.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle, StelloClient, TurnHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type ReplyToolCall } from '../../src/testing/index.ts'
import {
  cancelTurnSignal,
  cancelTurnUpdate,
  closeSignal,
  messageUpdate,
  resumeUpdate,
  stateQuery,
} from '../../src/protocol/temporal-messages.ts'
import { onlyChild } from '../support/forks.ts'
import type { Gate } from '../support/gate.ts'
import { ask, eventOf, type TestAgent } from '../support/session-fixture.ts'
import { startByHand } from '../support/start-by-hand.ts'

export interface Stage {
  client: StelloClient
  session: SessionHandle
  /** The gates where the model and the tools wait when they are told to. */
  gate: Gate
  /** Stops the worker. @returns a function that starts another one */
  stop(): Promise<() => Promise<void>>
}

export type Scenario = (stage: Stage) => Promise<unknown>

/** @param gate where calls wait when they are told to */
export function scenarioAgent(gate: Gate): TestAgent {
  const held = (name: string, extras: ToolExtras = {}) => {
    const wait = (): Promise<string> => gate.pass().then(() => `${name} done`)
    return tool(name, 'Waits', z.object({}), wait, extras)
  }
  const sum = tool('add', 'Adds', z.object({ a: z.number() }), ({ a }) => `${2 * a}`)
  const fail = tool('fail', 'Fails', z.object({}), () => Promise.reject(new Error('broken')), { readOnlyHint: true })
  const hang = tool('hang', 'Hangs', z.object({}), () => new Promise<string>(() => undefined), { timeout: 100 })
  const call = (name: string, args: object = {}): ReplyToolCall => ({ name, arguments: args })
  const add = (a: number): ReplyToolCall => call('add', { a })
  const fork = (label: string): ReplyToolCall => call('stello_create_session', { label, context: 'inherit' })
  const task = (message: string): ReplyToolCall => call('new_task', { label: message, message })
  let refusals = 1
  const llm = scriptedModel(
    replyBy([
      ['held', () => gate.pass().then(() => 'held answer')],
      ['add', { toolCalls: [add(1), add(2), call('fail'), call('nothing')] }],
      ['fork beside', { toolCalls: [fork('child'), add(1), fork('other')] }],
      ['fork', { toolCalls: [fork('child')] }],
      ['two tasks', { toolCalls: [task('add'), task('small')] }],
      ['slow task', { toolCalls: [task('held')] }],
      ['hang', { toolCalls: [call('hang'), add(1)] }],
      ['look', { toolCalls: [call('look'), add(1)] }],
      ['transfer', { toolCalls: [call('transfer')] }],
      ['pay', { toolCalls: [call('pay')] }],
      ['again', { toolCalls: [add(1)] }],
      [{ tool: 'add' }, ({ messages }) => (isLoop(messages) ? { toolCalls: [add(1)] } : 'done')],
      ['complete', { toolCalls: [call('attempt_completion', { result: 'complete' })] }],
      ['refuse', () => (refusals-- > 0 ? { error: { code: 'MODEL_AUTH', message: 'no key' } } : 'mended')],
      [() => true, 'done'],
    ]),
  )
  const tools = [
    sum,
    fail,
    hang,
    held('look', { readOnlyHint: true }),
    held('pay'),
    held('transfer', { onUnknownOutcome: 'ask' }),
  ]
  return { llm, systemTools: true, timeoutsBeforePause: 1, maxToolRounds: 2, capabilities: { tools } }
}

function isLoop(messages: { role: string; content: string }[]): boolean {
  return messages.findLast(({ role }) => role === 'user')?.content === 'again'
}

async function paused(turn: TurnHandle): Promise<void> {
  const error: unknown = await turn.result({ onPause: 'throw' }).catch((each: unknown) => each)
  if ((error as { code?: string }).code !== 'SESSION_PAUSED') throw new Error('the session did not pause')
}

export const SCENARIOS: Record<string, Scenario> = {
  async 'plain-turns'({ session }) {
    await ask(session, 'hello')
    await ask(session, 'complete')
    await ask(session, `big ${'x'.repeat(10_000)}`)
  },
  async 'parallel-calls'({ session }) {
    await ask(session, 'add')
  },
  async 'round-limit'({ session }) {
    await ask(session, 'again')
  },
  async 'fork-beside-calls'({ client, session }) {
    await ask(session, 'fork beside')
    for (const { id } of (await session.tree()).children) await ask(client.session(id), 'hello')
  },
  async tasks({ session }) {
    await ask(session, 'two tasks')
  },
  async 'client-fork'({ session }) {
    await ask(session, 'hello')
    const child = await session.fork({ label: 'mine', context: 'inherit' })
    await ask(child, 'add')
  },
  async 'timeout-pause-resume'({ session }) {
    const turn = await session.send('hang')
    await paused(turn)
    await session.resume()
    await turn.result()
  },
  async 'refusal-pause-resume'({ session }) {
    const turn = await session.send('refuse')
    await paused(turn)
    await session.resume()
    await turn.result()
  },
  async 'pause-between-turns'({ session }) {
    await session.pause('lunch')
    await eventOf(session, 'session.paused')
    const turn = await session.send('hello')
    await session.resume()
    await turn.result()
  },
  async 'pause-in-a-round'({ session, gate }) {
    const turn = await session.send('look')
    await gate.reached()
    await session.pause()
    await eventOf(session, 'session.paused')
    gate.open()
    await session.resume()
    await turn.result()
  },
  async 'cancel-model'({ session, gate }) {
    const turn = await session.send('held')
    await gate.reached()
    await session.cancelTurn()
    await turn.result()
    await ask(session, 'hello')
  },
  async 'cancel-calls'({ session, gate }) {
    const turn = await session.send('pay')
    await gate.reached()
    await session.cancelTurn()
    await turn.result()
  },
  async 'cancel-task'({ session, gate }) {
    const turn = await session.send('slow task')
    await gate.reached()
    await session.cancelTurn()
    await turn.result()
  },
  async 'child-terminated'({ client, session, gate }) {
    const turn = await session.send('slow task')
    await gate.reached()
    await client.temporal.workflow.getHandle((await onlyChild(client, session)).id).terminate()
    await turn.result()
  },
  async 'close-cascade'({ client, session, gate }) {
    await ask(session, 'fork')
    const child = await onlyChild(client, session)
    await child.send('held')
    await gate.reached()
    await session.close({ cascade: true })
    await eventOf(child, 'session.closed')
  },
  async 'cancellation-requested'({ client, session, gate }) {
    const turn = await session.send('held')
    await gate.reached()
    await client.temporal.workflow.getHandle(session.id).cancel()
    await turn.result()
  },
  async 'closed-before-opened'({ client, session }) {
    await ask(session, 'hello')
    await client.temporal.workflow.getHandle(session.id).terminate()
    await startByHand(client, session, closeSignal)
    await eventOf(session, 'session.closed')
  },
  async 'cancelled-before-opened'({ client, session, gate }) {
    const turn = await session.send('held')
    await gate.reached()
    await client.temporal.workflow.getHandle(session.id).terminate()
    await startByHand(client, session, cancelTurnSignal)
    await turn.result()
  },
  async 'refused-messages'({ client, session }) {
    const workflow = client.temporal.workflow.getHandle(session.id)
    await workflow.signal('message', { text: 'no id' })
    await workflow.signal('childReport', 'nonsense')
    await workflow.signal('message', `raw ${'x'.repeat(10_000)}`)
    await ask(session, 'hello')
    await (await session.send('once', { messageId: 'same' })).result()
    await (await session.send('once', { messageId: 'same' })).result()
  },
  async updates({ client, session, gate }) {
    const workflow = client.temporal.workflow.getHandle(session.id)
    await workflow.query(stateQuery)
    await workflow.executeUpdate('pause')
    await workflow.executeUpdate(messageUpdate, { args: [{ messageId: 'one', text: 'held' }] })
    await workflow.executeUpdate(resumeUpdate)
    await gate.reached()
    await workflow.executeUpdate(cancelTurnUpdate)
    await session.turn('one').result()
    await workflow.executeUpdate('close')
    await workflow.result()
  },
  async 'handed-over'({ session, gate, stop }) {
    const turn = await session.send('look')
    await gate.reached()
    const start = await stop()
    gate.open()
    await start()
    await turn.result()
  },
  async 'asked-a-person'({ session, gate, stop }) {
    const turn = await session.send('transfer')
    await gate.reached()
    const start = await stop()
    await start()
    await eventOf(session, 'pending.opened')
    const [item] = await session.pending()
    await session.answer(item?.id ?? '', { decision: 'done', text: 'transferred' })
    await turn.result()
  },
  async 'continued-between-turns'({ session }) {
    const turns: TurnHandle[] = []
    for (let n = 0; n < 24; n++) turns.push(await session.send(n % 8 === 0 ? 'add' : `message ${n}`))
    await Promise.all(turns.map((turn) => turn.result()))
  },
  async 'continued-in-a-round'({ client, session, gate }) {
    const turn = await session.send('slow task')
    await gate.reached()
    const first = (await client.temporal.workflow.getHandle(session.id).describe()).runId
    const waiting: TurnHandle[] = []
    while ((await client.temporal.workflow.getHandle(session.id).describe()).runId === first) {
      if (waiting.length < 100) waiting.push(await session.send(`message ${waiting.length}`))
    }
    gate.open()
    await turn.result()
    await Promise.all(waiting.map((one) => one.result()))
  },
  async reset({ client, session }) {
    await ask(session, 'add')
    await ask(session, 'hello')
    const { workflow, workflowService, options } = client.temporal
    const { events } = await workflow.getHandle(session.id).fetchHistory()
    const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes)
    await workflowService.resetWorkflowExecution({
      namespace: options.namespace,
      workflowExecution: { workflowId: session.id },
      reason: 'test',
      requestId: `reset-${session.id}`,
      workflowTaskFinishEventId: tasks[Math.floor(tasks.length / 2)]?.eventId ?? null,
    })
    await ask(session, 'after')
  },
}
