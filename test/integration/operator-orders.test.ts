/** A workflow is lost before any worker has done what it was told. The session that is started again does it. */
import { expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()

const answers = (): ScriptedModel =>
  scriptedModel(replyBy([[() => true, ({ messages }) => `answer to ${messages.at(-1)?.content}`]]))

/** A session whose first turn has begun, and whose second message waits. Nobody works on it. */
async function heldUp(agent: string): Promise<SessionHandle> {
  const gate = createGate()
  const llm = scriptedModel(replyBy([[() => true, () => gate.pass().then(() => 'too late')]]))
  const worker = await stello.work({ name: agent, llm }, { shutdownGraceMs: 0 })
  const session = await stello.client.createSession({ agent })
  await session.send('one', { messageId: 'one' })
  await gate.reached()
  await session.send('two', { messageId: 'two' })
  await worker.stop()
  return session
}

/** @returns the model of the worker that goes on with it */
async function lostAndRecovered(agent: string, session: SessionHandle): Promise<ScriptedModel> {
  await stello.client.temporal.workflow.getHandle(session.id).terminate('an operator')
  expect(await session.recover()).toEqual({ restarted: true, waiting: 1 })
  const llm = answers()
  await stello.work({ name: agent, llm })
  return llm
}

it('stops the turn that was to stop, and no other', async () => {
  const agent = `stopped-${Date.now()}`
  const session = await heldUp(agent)
  await session.cancelTurn()
  await lostAndRecovered(agent, session)
  expect((await session.turn('one').result()).stopReason).toBe('cancelled')
  expect((await session.turn('two').result()).text).toBe('answer to two')
})

it('pauses the session that was to pause, until it is resumed', async () => {
  const agent = `paused-${Date.now()}`
  const session = await heldUp(agent)
  await session.pause('lunch')
  const { calls } = await lostAndRecovered(agent, session)
  expect((await eventOf(session, 'session.paused')).data).toMatchObject({ reason: 'user', message: 'lunch' })
  expect(calls).toEqual([])
  await session.resume()
  expect((await session.turn('two').result()).text).toBe('answer to two')
})

it('closes the session that was to close', async () => {
  const agent = `closed-${Date.now()}`
  const session = await heldUp(agent)
  await session.close()
  const { calls } = await lostAndRecovered(agent, session)
  await eventOf(session, 'session.closed')
  expect((await session.turn('one').result()).stopReason).toBe('closed')
  expect(calls).toEqual([])
})

it('does not close an agent again that was opened again, and whose new workflow was lost before it began', async () => {
  const agent = `opened-${Date.now()}`
  await stello.work({ name: agent, llm: answers() })
  const session = await stello.client.createSession({ agent })
  await session.close()
  await eventOf(session, 'session.closed')
  // As `reopenAgent` does it. Temporal knows of the closed run only.
  await stello.db.pool.query('update sessions set closed_at = null, closing_at = null where id = $1', [session.id])
  expect(await session.recover()).toEqual({ restarted: true, waiting: 0 })
  expect(await ask(session, 'one')).toBe('answer to one')
})
