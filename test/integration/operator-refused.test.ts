/**
 * A message was refused, and an operator acts on Temporal later. A refusal counts only in the line of history in which
 * it was told.
 */
import { describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { messageSignal } from '../../src/protocol/temporal-messages.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { resetBefore } from '../support/rewind.ts'
import { ask, eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'

const stello = useStello()

const workflowOf = ({ id }: SessionHandle): ReturnType<typeof stello.client.temporal.workflow.getHandle> =>
  stello.client.temporal.workflow.getHandle(id)

/**
 * A session that has answered `one` and refused `late`, which came without a text. The model waits for the gate at
 * `hello`.
 */
async function refusing(gate?: Gate): Promise<SessionHandle> {
  const llm = scriptedModel(async ({ messages }) => {
    const asked = messages.at(-1)?.content
    if (asked === 'hello') await gate?.pass()
    return `answer to ${asked}`
  })
  const session = await stello.session({ llm })
  await ask(session, 'one')
  await workflowOf(session).signal(messageSignal, { messageId: 'late' })
  await eventOf(session, 'message.rejected')
  return session
}

/** A reset to before the refusal. The new line of history does not know of it. */
async function forgetRefusal(session: SessionHandle): Promise<void> {
  await resetBefore(stello.client, session, 'm1.0', { forget: true })
  await eventOf(session, 'session.rewound')
}

describe('a message that was refused', () => {
  it('in a future that a reset abandons is answered when it is sent again, and its refusal shows nowhere', async () => {
    const session = await refusing()
    await forgetRefusal(session)
    const turn = await session.send('hello', { messageId: 'late' })
    expect((await turn.result()).text).toBe('answer to hello')
    let ended = 0
    const events = await eventsUntil(session, ({ type }) => type === 'turn.completed' && ++ended === 2)
    expect(events.map(({ type }) => type)).not.toContain('message.rejected')
  })

  it('in an abandoned future, sent again and waiting when the workflow is terminated, is answered after recover', async () => {
    const gate = createGate()
    const session = await refusing(gate)
    await forgetRefusal(session)
    const first = await session.send('hello')
    await gate.reached()
    const turn = await session.send('two', { messageId: 'late' })
    await workflowOf(session).terminate('an operator')
    expect(await session.recover()).toEqual({ restarted: true, waiting: 1 })
    gate.open()
    expect((await first.result()).text).toBe('answer to hello')
    expect((await turn.result()).text).toBe('answer to two')
  })

  it('stays refused after recover: for the one who waits, for a second send, and when it comes as a signal', async () => {
    const session = await refusing()
    const refused = { code: 'INVALID_MESSAGE', message: expect.stringContaining('has no text') as string }
    await expect(session.send('hello', { messageId: 'late' })).rejects.toMatchObject(refused)
    await workflowOf(session).terminate('an operator')
    expect(await session.recover()).toEqual({ restarted: true, waiting: 0 })
    await workflowOf(session).signal(messageSignal, { messageId: 'late', text: 'hello' })
    expect(await ask(session, 'three')).toBe('answer to three')
    await expect(session.turn('late').result()).rejects.toMatchObject(refused)
    expect((await session.transcript()).map(({ content }) => content)).toEqual([
      'one',
      'answer to one',
      'three',
      'answer to three',
    ])
  })
})
