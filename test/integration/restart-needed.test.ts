/**
 * Many sessions after a restore: only those whose workflow cannot go on are started again. The others are not
 * disturbed.
 */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { ask, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const NEEDED = { restart: 'needed' } as const
const nothing = { restarted: false, waiting: 0 }

it('does nothing to a session that runs well, also in the middle of a turn', async () => {
  const gate = createGate()
  const slow = tool('slow', 'Waits', z.object({}), async () => {
    await gate.pass()
    return 'done'
  })
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'slow' }] }],
      [() => true, 'answered'],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [slow] } })
  const turn = await session.send('go')
  await gate.reached()
  expect(await session.recover(NEEDED)).toEqual(nothing)
  gate.open()
  expect((await turn.result()).text).toBe('answered')
  expect(llm.calls).toHaveLength(2)
})

it('starts a session again whose workflow is behind the store, or contradicts it', async () => {
  const session = await stello.session({ llm: scriptedModel(({ messages }) => `${messages.length}`) })
  const { id } = session
  expect(await ask(session, 'one')).toBe('1')
  // As if the store had gone on with a run that Temporal does not know, because it was restored from a copy.
  await stello.db.pool.query(`insert into runs (session_id, run_id, gen) values ($1, 'later', 0)`, [id])
  await stello.db.pool.query(`update sessions set run_id = 'later' where id = $1`, [id])
  expect(await session.recover(NEEDED)).toMatchObject({ restarted: true })
  expect(await ask(session, 'two')).toBe('3')
  expect(await session.recover(NEEDED)).toEqual(nothing)

  await stello.db.pool.query(`update sessions set pause = $2 where id = $1`, [
    id,
    JSON.stringify({ reason: 'store_error', message: 'a record is gone' }),
  ])
  expect(await session.recover(NEEDED)).toMatchObject({ restarted: true })
})

it('finds sessions by the reason of their pause', async () => {
  const one = await stello.session({ llm: scriptedModel([]) })
  const other = await stello.client.createSession({ agent: (await one.state()).agent })
  await one.pause()
  await expect.poll(async () => (await one.state()).state).toBe('paused')
  const paused = await stello.client.list({ state: 'paused', reason: 'user' })
  expect(paused.map(({ id }) => id)).toContain(one.id)
  expect(paused.map(({ id }) => id)).not.toContain(other.id)
  expect(await stello.client.list({ reason: 'budget' })).toEqual([])
})
