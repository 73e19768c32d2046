/** The end of a session: everybody who waits is told, and nothing comes after it. */
import type { WorkflowHandle } from '@temporalio/client'
import { expect, it } from 'vitest'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { CHILDREN_AT_ONCE } from '../../src/session/state.ts'
import { forking, goneForks, onlyChild } from '../support/forks.ts'
import { createGate } from '../support/gate.ts'
import { runsOf } from '../support/runs.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'
import { until } from '../support/until.ts'

const stello = useStello()

it('ends the turn under way and the messages that wait', async () => {
  const gate = createGate()
  const llm = scriptedModel(async () => {
    await gate.pass()
    return 'too late'
  })
  const session = await stello.session({ llm })
  const turns = [await session.send('one'), await session.send('two'), await session.send('three '.repeat(2000))]
  await gate.reached()
  await viewOf(stello.client, session, ({ queued }) => queued === 2)
  await session.close()
  const results = await Promise.all(turns.map((turn) => turn.result()))
  expect(results.map(({ stopReason }) => stopReason)).toEqual(['closed', 'closed', 'closed'])
  expect(llm.calls).toHaveLength(1)
  await stello.client.temporal.workflow.getHandle(session.id).result()
})

it('refuses what comes after it, and says so', async () => {
  const session = await stello.session({ llm: scriptedModel(() => 'hi') })
  await ask(session, 'hello')
  await session.close()
  await eventOf(session, 'session.closed')
  await stello.client.temporal.workflow.getHandle(session.id).result()
  for (const attempt of [
    () => session.send('more'),
    () => session.pause(),
    () => session.resume(),
    () => session.cancelTurn(),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  }
  expect(await session.state()).toMatchObject({ state: 'closed', records: 2 })
  expect(await session.transcript()).toHaveLength(2)
})

it('is asked for twice without harm', async () => {
  const session = await stello.session({ llm: scriptedModel(() => 'hi') })
  await session.close()
  await session.close().catch((error: unknown) => expect(error).toMatchObject({ code: 'SESSION_CLOSED' }))
  await eventOf(session, 'session.closed')
})

it('ends the forks below only when it cascades', async () => {
  const session = await stello.session({ llm: forking() })
  await ask(session, 'fork')
  const child = stello.client.session((await session.tree()).children[0]?.id ?? '')
  await ask(child, 'fork')
  const grandchild = stello.client.session((await child.tree()).children[0]?.id ?? '')

  await session.close()
  await eventOf(session, 'session.closed')
  expect(await ask(child, 'still there?')).toBe('ok')
  await child.close({ cascade: true })
  await eventOf(grandchild, 'session.closed')
  await expect(grandchild.send('and now?')).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
})

it('with cascade reaches every fork, however many, and no task of the workflow signals more than one batch', async () => {
  const session = await stello.session({ llm: scriptedModel(() => 'ok') })
  const last = await session.fork({ label: 'the last', sessionId: 'z-last' })
  // A session that is not open yet finds out by itself that it is to close.
  await ask(last, 'Are you there?')
  await goneForks(stello, session, 2 * CHILDREN_AT_ONCE)
  await session.close({ cascade: true })
  await eventOf(last, 'session.closed')
  const workflow = stello.client.temporal.workflow.getHandle(session.id)
  await workflow.result()
  const perTask = new Map<string, number>()
  // That many signals may end a run between two batches.
  for (const { runId, events } of await runsOf(stello, session)) {
    for (const { signalExternalWorkflowExecutionInitiatedEventAttributes: signal } of events) {
      const task = signal && `${runId} ${String(signal.workflowTaskCompletedEventId)}`
      if (task) perTask.set(task, (perTask.get(task) ?? 0) + 1)
    }
  }
  expect([...perTask.values()]).toEqual([CHILDREN_AT_ONCE, CHILDREN_AT_ONCE, 1])
})

it('cascades past a fork whose workflow was terminated', async () => {
  const llm = scriptedModel(
    replyBy([
      [
        'fork',
        { toolCalls: ['gone', 'there'].map((label) => ({ name: 'stello_create_session', arguments: { label } })) },
      ],
      [() => true, 'ok'],
    ]),
  )
  const session = await stello.session({ llm })
  await ask(session, 'fork')
  const { children } = await session.tree()
  const workflowOf = (label?: string): WorkflowHandle =>
    stello.client.temporal.workflow.getHandle(children.find((child) => child.label === label)?.id ?? session.id)
  // The child is in the tree a moment before it runs.
  await until('the fork runs', () =>
    workflowOf('gone')
      .describe()
      .then(
        () => true,
        () => false,
      ),
  )
  await workflowOf('gone').terminate()
  await session.close({ cascade: true })
  await workflowOf().result()
  await workflowOf('there').result()
  expect((await session.state()).state).toBe('closed')
})

it('ends the fork of a task that has answered and closed long before', async () => {
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'new_task', arguments: { label: 'task', message: 'fork' } }] }],
      ['fork', { toolCalls: [{ name: 'stello_create_session', arguments: { label: 'fork of the task' } }] }],
      [() => true, 'ok'],
    ]),
  )
  const session = await stello.session({ llm, systemTools: true })
  await ask(session, 'go')
  const task = await onlyChild(stello.client, session)
  await eventOf(task, 'session.closed')
  const fork = await onlyChild(stello.client, task)
  expect(await ask(fork, 'still there?')).toBe('ok')
  await session.close({ cascade: true })
  await eventOf(fork, 'session.closed')
})

it('by a terminated workflow is reported to everybody who waits or sends', async () => {
  const gate = createGate()
  const llm = scriptedModel(async () => {
    await gate.pass()
    return 'too late'
  })
  const session = await stello.session({ llm })
  const turn = await session.send('one')
  await gate.reached()
  await stello.client.temporal.workflow.getHandle(session.id).terminate('by an operator')
  await expect(session.send('two')).rejects.toMatchObject({ code: 'SESSION_TERMINATED' })
  await expect(turn.result()).rejects.toMatchObject({
    code: 'SESSION_TERMINATED',
    message: expect.stringContaining('TERMINATED') as string,
  })
})

it('stops the turn each time that Temporal requests a cancellation, and closes when there is nothing to stop', async () => {
  const gate = createGate()
  const tooLate = async (): Promise<string> => {
    await gate.pass()
    return 'too late'
  }
  const llm = scriptedModel(
    replyBy([
      ['work', tooLate],
      [() => true, 'I am here.'],
    ]),
  )
  const session = await stello.session({ llm })
  const workflow = stello.client.temporal.workflow.getHandle(session.id)
  for (const n of [1, 2]) {
    const { runId } = await workflow.describe()
    const turn = await session.send('work')
    await gate.reached(n)
    await workflow.cancel()
    expect((await turn.result()).stopReason).toBe('cancelled')
    // Temporal takes one request for each run.
    await until('the next run', async () => (await workflow.describe()).runId !== runId)
    expect(await ask(session, 'are you there?')).toBe('I am here.')
  }
  // The store has an answer a moment before the workflow knows that its turn is over.
  await viewOf(stello.client, session)
  await workflow.cancel()
  await workflow.result()
  expect((await session.state()).state).toBe('closed')
})
