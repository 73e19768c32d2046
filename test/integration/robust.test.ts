/** What must not stop a session: odd signals, long names, children that are ended from outside, hooks that hang. */
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { StelloError } from '../../src/core/errors.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { forking, onlyChild, profiles, taskAt } from '../support/forks.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'

const stello = useStello()
const gates: Gate[] = []
afterEach(() => gates.splice(0).forEach((gate) => gate.open()))

it.each([
  ['nothing', null],
  ['a text', 'text'],
  ['no ids', {}],
  ['a huge id', { childId: 'a'.repeat(100_000), callKey: 't1.0.0', childGen: 0, childTurn: 1 }],
])('lives on after a report that is malformed: %s', async (_what, report) => {
  const session = await stello.session({ llm: scriptedModel(() => 'hi') })
  await stello.client.temporal.workflow.getHandle(session.id).signal('childReport', report)
  expect(await ask(session, 'hello')).toBe('hi')
  expect((await eventOf(session, 'message.rejected')).data).toMatchObject({ reason: 'this is no report of a child' })
})

it('refuses a raw text that would not fit into an activity', async () => {
  const session = await stello.session({ llm: scriptedModel(() => 'hi') })
  await stello.client.temporal.workflow.getHandle(session.id).signal('message', '語'.repeat(690_000))
  expect((await eventOf(session, 'message.rejected')).data['reason']).toMatch('bytes')
  expect(await ask(session, 'hello')).toBe('hi')
})

it('goes on after a fork that nobody waits for is terminated', async () => {
  const session = await stello.session({ llm: forking() })
  await ask(session, 'fork')
  await stello.client.temporal.workflow.getHandle((await onlyChild(stello.client, session)).id).terminate()
  expect(await ask(session, 'still there?')).toBe('ok')
})

it('takes a label of any length from a model, and refuses one that is too long from a client', async () => {
  const label = '語'.repeat(2000)
  const llm = scriptedModel(
    replyBy([
      ['fork', { toolCalls: [{ name: 'stello_create_session', arguments: { label } }] }],
      [() => true, 'ok'],
    ]),
  )
  const { taskQueue } = await stello.work({ llm })
  const session = await stello.client.createSession({ agent: taskQueue, label: label.slice(0, 200) })
  expect(await ask(session, 'fork')).toBe('ok')
  expect(await ask(await onlyChild(stello.client, session), 'hello')).toBe('ok')
  for (const given of [stello.client.createSession({ agent: taskQueue, label }), session.fork({ label })]) {
    await expect(given).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('200') as string,
    })
  }
})

it('tells the sender when a message finds the queue full', async () => {
  const session = await stello.session({ llm: scriptedModel(() => 'hi') })
  await session.pause()
  await viewOf(stello.client, session, ({ status }) => status === 'paused')
  await Promise.all(Array.from({ length: 200 }, (_, i) => session.send(`message ${i}`)))
  const late = await session.send('one too many')
  await expect(late.result()).rejects.toMatchObject({
    code: 'INVALID_MESSAGE',
    message: expect.stringContaining('200 messages') as string,
  })
})

it('learns of an awaited child that ended while another run of the session waited for it', async () => {
  const gate = createGate()
  gates.push(gate)
  const llm = scriptedModel(
    replyBy([...taskAt(gate), [{ tool: 'new_task' }, ({ messages }) => messages.at(-1)?.content ?? '']]),
  )
  const name = `test-reset-${Date.now()}`
  const worker = await stello.work({ llm, systemTools: true, name })
  const session = await stello.client.createSession({ agent: name })
  const turn = await session.send('go')
  await gate.reached()
  await worker.stop()
  const { workflow, workflowService, options } = stello.client.temporal
  await workflow.getHandle((await onlyChild(stello.client, session)).id).terminate()
  const { events } = await workflow.getHandle(session.id).fetchHistory()
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes)
  await workflowService.resetWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId: session.id },
    reason: 'test',
    requestId: `${name}-reset`,
    workflowTaskFinishEventId: first?.eventId ?? null,
  })
  await stello.work({ llm, systemTools: true, name })
  expect((await turn.result()).text).toMatch(/ended without an answer \(TERMINATED\)/)
  expect(llm.calls.filter(({ messages }) => messages.at(-1)?.content === 'go')).toHaveLength(1)
})

it('closes although it could not be opened', async () => {
  const p = { contextFn: () => Promise.reject(new Error('no context')) }
  const parent = await stello.session({ llm: scriptedModel(() => 'hi'), capabilities: { profiles: profiles({ p }) } })
  const fork = await parent.fork({ label: 'fork', profile: 'p' })
  await eventOf(fork, 'session.paused')
  await fork.close()
  await eventOf(fork, 'session.closed')
})

it('gives up a contextFn that hangs, and the model reads TOOL_TIMEOUT', async () => {
  const p = { contextFn: () => new Promise<never>(() => undefined) }
  const llm = scriptedModel(
    replyBy([
      ['fork', { toolCalls: [{ name: 'stello_create_session', arguments: { label: 'child', profile: 'p' } }] }],
      [{ tool: 'stello_create_session' }, ({ messages }) => messages.at(-1)?.content ?? ''],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { profiles: profiles({ p }) }, toolTimeout: 100 })
  expect(await ask(session, 'fork')).toBe('TOOL_TIMEOUT: contextFn of profile "p" did not end within 0.1 s')
})

it('runs a tool that may not be repeated once, also if it throws an error that is tried again elsewhere', async () => {
  let runs = 0
  const pay = tool('pay', 'Pays', z.object({}), () => {
    runs++
    throw new StelloError('MODEL_UNAVAILABLE', 'busy')
  })
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'pay', arguments: {} }] }],
      [{ tool: 'pay' }, ({ messages }) => messages.at(-1)?.content ?? ''],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [pay] } })
  expect(await ask(session, 'go')).toBe('TOOL_EXECUTION_ERROR: tool "pay" failed: busy')
  expect(runs).toBe(1)
})
