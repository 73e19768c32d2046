/**
 * A run that is nearly full while a step still runs: it refuses updates, takes signals, and the next run takes both.
 */
import { ApplicationFailure, WorkflowUpdateFailedError } from '@temporalio/client'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { QUEUE_LIMIT } from '../../src/session/state.ts'
import { messageUpdate, resumeUpdate } from '../../src/protocol/temporal-messages.ts'
import { createGate } from '../support/gate.ts'
import { eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'

const stello = useStello()
/** More than 80 % of the 2,000 that Temporal allows a run. */
const UPDATES = 1601
/** Temporal takes ten at once for one workflow. */
const AT_ONCE = 10

it('refuses messages by update, not by signal, until the next run', async () => {
  const gate = createGate()
  const wait = async (): Promise<string> => {
    await gate.pass()
    return 'waited'
  }
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'wait' }] }],
      [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [tool('wait', 'Waits', z.object({}), wait)] } })
  const workflow = stello.client.temporal.workflow.getHandle(session.id)
  const tell = (messageId: string): Promise<unknown> =>
    workflow.executeUpdate(messageUpdate, { args: [{ messageId, text: messageId }] })
  const first = await session.send('go')
  await gate.reached()

  let left = UPDATES
  const resume = async (): Promise<void> => {
    while (left-- > 0) await workflow.executeUpdate(resumeUpdate)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, resume))
  const refused: unknown = await tell('refused').catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(WorkflowUpdateFailedError)
  const { cause } = refused as WorkflowUpdateFailedError
  expect(cause).toBeInstanceOf(ApplicationFailure)
  expect(cause).toMatchObject({
    type: 'SESSION_BUSY',
    message: expect.stringMatching(/16\d\d of at most 2000 updates.*Send the message as a signal/) as string,
  })
  const second = await session.send('by signal')

  gate.open()
  expect((await first.result()).text).toBe('read: waited')
  expect((await second.result()).text).toBe('read: by signal')
  await tell('taken')
  expect((await session.turn('taken').result()).text).toBe('read: taken')
  const asked = (await session.transcript()).filter(({ role }) => role === 'user').map(({ content }) => content)
  expect(asked).toEqual(['go', 'by signal', 'taken'])
}, 180_000)

it('refuses an update, but not a repeated one, while as many messages wait as are allowed', async () => {
  const session = await stello.session({ llm: scriptedModel(() => 'ok') })
  await session.pause()
  await eventOf(session, 'session.paused')
  const ids = Array.from({ length: QUEUE_LIMIT }, (_, i) => `m${i}`)
  await Promise.all(ids.map((messageId) => session.send('wait', { messageId })))
  await viewOf(stello.client, session, ({ queued }) => queued === QUEUE_LIMIT)
  const workflow = stello.client.temporal.workflow.getHandle(session.id)
  const tell = (messageId: string): Promise<unknown> =>
    workflow.executeUpdate(messageUpdate, { args: [{ messageId, text: 'wait' }] })
  await expect(tell('one more')).rejects.toMatchObject({
    cause: { type: 'SESSION_BUSY', message: expect.stringContaining(`${QUEUE_LIMIT} messages are waiting`) as string },
  })
  await tell('m0')
  await session.close()
  const events = await eventsUntil(session, ({ type }) => type === 'session.closed')
  expect(events.map(({ type }) => type)).toEqual(['session.paused', 'session.closed'])
})
