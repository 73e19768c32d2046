/** Forks that a client asks for: of any session, at any time. */
import { randomBytes } from 'node:crypto'
import { WorkflowNotFoundError } from '@temporalio/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Message } from '../../src/core/message.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle, StelloEvent } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { profiles, taskAt } from '../support/forks.ts'
import { createGate } from '../support/gate.ts'
import { ask, eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()

/** A fork that is paused before any worker has opened it. `serve` starts a worker again. */
async function pausedUnopened(): Promise<{ fork: SessionHandle; serve(): Promise<unknown> }> {
  const agent = { llm: scriptedModel(() => 'ok') }
  const worker = await stello.work(agent)
  const session = await stello.client.createSession({ agent: worker.taskQueue })
  await ask(session, 'one')
  await worker.stop()
  const fork = await session.fork({ label: 'paused' })
  const pause = JSON.stringify({ reason: 'user', message: 'paused by request' })
  await stello.db.pool.query('update sessions set pause = $2 where id = $1', [fork.id, pause])
  await fork.pause()
  return { fork, serve: () => stello.work({ ...agent, name: worker.taskQueue }) }
}

describe('a fork by the client', () => {
  it('goes on from where the session stands, also when it is closed', async () => {
    const llm = scriptedModel(({ messages }) => `${messages.length} messages`)
    const session = await stello.session({ llm, systemPrompt: 'S' })
    await ask(session, 'one')
    await session.close()
    await eventOf(session, 'session.closed')
    const child = await session.fork({ label: 'again', context: 'inherit' })
    expect(await ask(child, 'two')).toBe('4 messages')
    expect((await child.transcript()).map(({ content }) => content)).toEqual(['one', '2 messages', 'two', '4 messages'])
    expect(await session.transcript()).toHaveLength(2)
  })

  it('of a running turn begins before the exchange that is under way', async () => {
    const gate = createGate()
    const llm = scriptedModel(
      replyBy([
        ...taskAt(gate),
        ['and now?', ({ messages }) => messages.map(({ content }) => content).join(' | ')],
        [() => true, 'done'],
      ]),
    )
    const session = await stello.session({ llm, systemTools: true })
    const turn = await session.send('go')
    await gate.reached()
    const child = await session.fork({ label: 'aside', context: 'inherit' })
    expect(await ask(child, 'and now?')).toBe('go | and now?')
    gate.open()
    expect((await turn.result()).text).toBe('done')
  })

  it('that was paused before a worker opened it can be closed', async () => {
    const { fork: child, serve } = await pausedUnopened()
    await serve()
    await eventOf(child, 'session.paused')
    await child.close()
    await eventOf(child, 'session.closed')
  })

  it('that waits for its parent to be opened can be closed', async () => {
    const { fork: parent, serve } = await pausedUnopened()
    const child = await parent.fork({ label: 'child' })
    await serve()
    await until('its opening is tried again', async () => {
      const { raw } = await stello.client.temporal.workflow.getHandle(child.id).describe()
      return raw.pendingActivities?.some(({ attempt }) => (attempt ?? 0) > 1)
    })
    await child.close()
    await eventOf(child, 'session.closed')
    expect((await parent.state()).state).toBe('paused')
  })

  it('asks contextFn and onSessionFork once, although its worker stops in between', async () => {
    const [asked, told] = [createGate(), createGate()]
    asked.open()
    const contextFn = async (records: Message[]): Promise<Message[]> => {
      await asked.pass()
      return records.slice(0, 1)
    }
    const agent = {
      llm: scriptedModel(({ messages }) => `${messages.length} messages`),
      onSessionFork: () => told.pass(),
      capabilities: { profiles: profiles({ p: { contextFn } }) },
    }
    const worker = await stello.work(agent)
    const session = await stello.client.createSession({ agent: worker.taskQueue })
    await ask(session, 'one')
    const child = await session.fork({ label: 'child', profile: 'p' })
    await told.reached()
    await worker.stop()
    await stello.work({ ...agent, name: worker.taskQueue })
    expect(await ask(child, 'two')).toBe('2 messages')
    expect([asked.arrived, told.arrived]).toEqual([1, 1])
  })

  it('with a profile nobody serves is refused by name', async () => {
    const session = await stello.session({ llm: scriptedModel([]), capabilities: { profiles: profiles({ p: {} }) } })
    await expect(session.fork({ label: 'x', profile: 'q' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      hint: 'it has: p',
    })
    expect((await session.tree()).children).toEqual([])
  })

  it('of a session that is still being opened waits for it, and gets no more than that session has', async () => {
    const gate = createGate()
    const contextFn = async (): Promise<Message[]> => gate.pass().then(() => [])
    const narrow = { contextFn, allowedTools: ['look'], systemPrompt: 'narrow' }
    const look = tool('look', 'Looks', z.object({}), () => 'seen')
    const pay = tool('pay', 'Pays', z.object({}), () => 'paid')
    const llm = scriptedModel(
      ({ messages, tools }) => `${messages[0]?.content}: ${tools.map(({ name }) => name).join()}`,
    )
    const session = await stello.session({ llm, capabilities: { tools: [look, pay], profiles: profiles({ narrow }) } })
    const parent = await session.fork({ label: 'parent', profile: 'narrow' })
    await gate.reached()
    const child = await parent.fork({ label: 'child' })
    await until('the child has tried to begin', async () => {
      const { raw } = await stello.client.temporal.workflow.getHandle(child.id).describe()
      return raw.pendingActivities?.some(({ lastFailure }) => lastFailure?.message?.includes(parent.id))
    })
    gate.open()
    expect(await ask(child, 'what have you?')).toBe('narrow: stello_create_session,look')
  })

  it('of a session that cannot be opened, or was closed before that, says so and can be closed', async () => {
    const agent = `test-${randomBytes(4).toString('hex')}`
    const parent = await stello.client.createSession({ agent, profile: 'gone' })
    await stello.work({ name: agent, llm: scriptedModel([]) })
    await eventOf(parent, 'session.paused')
    const child = await parent.fork({ label: 'child' })
    await eventOf(child, 'session.paused')
    expect((await child.state()).pause).toMatchObject({
      reason: 'agent_error',
      message: expect.stringContaining(`its parent ${parent.id} cannot be opened: unknown profile "gone"`) as string,
    })
    await parent.close()
    await eventOf(parent, 'session.closed')
    await child.resume()
    const paused = ({ data }: StelloEvent): boolean =>
      String(fieldOf(data, 'message')).includes('closed before it was opened')
    await eventsUntil(child, paused)
    await child.close()
    await eventOf(child, 'session.closed')
  })

  it('is told by an event of its parent', async () => {
    const session = await stello.session({ llm: scriptedModel(() => 'hi') })
    const child = await session.fork({ label: 'aside' })
    await ask(child, 'hello')
    const events = await eventsUntil(session, ({ type }) => type === 'session.forked')
    expect(events.at(-1)?.data).toMatchObject({ child: child.id, label: 'aside' })
  })

  it('under an id of the caller is the same fork when it is asked for again, although its parent has gone on', async () => {
    const llm = scriptedModel(({ messages }) => `${messages.length} messages`)
    const session = await stello.session({ llm })
    await ask(session, 'one')
    const sessionId = `${session.id}-aside`
    const vars = { a: '1', b: '2' }
    const request = { label: 'aside', context: 'inherit', vars } as const
    const child = await session.fork({ ...request, sessionId })
    expect(child.id).toBe(sessionId)
    await ask(session, 'two')
    const again = { vars: { b: '2', a: '1' }, context: 'inherit', label: 'aside', sessionId } as const
    expect((await session.fork(again)).id).toBe(sessionId)
    expect(await ask(child, 'here')).toBe('3 messages')
    await child.close()
    await eventOf(child, 'session.closed')
    expect((await session.fork(again)).id).toBe(sessionId)
    const events = await eventsUntil(session, ({ type, data }) => type === 'turn.completed' && data['turn'] === 2)
    expect(events.filter(({ type }) => type === 'session.forked')).toHaveLength(1)
    expect((await session.tree()).children.map(({ id }) => id)).toEqual([sessionId])
  })

  it('whose workflow was never started is completed by asking again', async () => {
    const agent = `test-${randomBytes(4).toString('hex')}`
    const session = await stello.client.createSession({ agent })
    const options = { label: 'aside', sessionId: `${session.id}-aside` }
    const child = await session.fork(options)
    const { workflowService, workflow } = stello.client.temporal
    const workflowExecution = { workflowId: child.id }
    await workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution })
    await until('the workflow is gone', () =>
      workflow
        .getHandle(child.id)
        .describe()
        .then(
          () => false,
          (error: unknown) => error instanceof WorkflowNotFoundError,
        ),
    )
    await session.fork(options)
    await stello.work({ name: agent, llm: scriptedModel(() => 'hi') })
    expect(await ask(child, 'hello')).toBe('hi')
  })

  it('under an id that is taken is refused: by another session, or by a fork of other content or of another parent', async () => {
    const session = await stello.session({ llm: scriptedModel(() => 'hi') })
    const sessionId = `${session.id}-aside`
    const child = await session.fork({ label: 'aside', sessionId })
    const refused = (id: string): object => ({
      code: 'SESSION_EXISTS',
      message: expect.stringContaining(`session ${id} exists already, and is not this fork`) as string,
    })
    await expect(session.fork({ label: 'other', sessionId })).rejects.toMatchObject(refused(sessionId))
    await expect(session.fork({ label: 'aside', prompt: 'x', sessionId })).rejects.toMatchObject(refused(sessionId))
    await expect(child.fork({ label: 'aside', sessionId })).rejects.toMatchObject(refused(sessionId))
    await expect(session.fork({ label: 'aside', sessionId: session.id })).rejects.toMatchObject(refused(session.id))
    await expect(session.fork({ label: 'aside', sessionId: 'a b' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect((await session.tree()).children).toHaveLength(1)
  })
})
