/** Attacks on a close: a tree that grows while it is closed, and sessions that an earlier close has left open. */
import { expect, it } from 'vitest'
import { scriptedModel } from '../../src/testing/index.ts'
import { forking, onlyChild } from '../support/forks.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()

async function count(rootId: string): Promise<{ all: number; open: number }> {
  const { rows } = await stello.db.pool.query<{ all: number; open: number }>(
    `select count(*)::int as all, (count(*) filter (where closed_at is null))::int as open
     from sessions where root_id = $1`,
    [rootId],
  )
  return rows[0] ?? { all: 0, open: 0 }
}

it('a tree that grows as fast as it can, with three forks per session, is closed by one cascade', async () => {
  const calls = ['a', 'b', 'c'].map((label) => ({ name: 'new_task', arguments: { label, message: 'grow' } }))
  const llm = scriptedModel(() => ({ toolCalls: calls }))
  const bounds = { maxDepth: 1000, maxSessions: 100_000 }
  const session = await stello.session({ llm, systemTools: true, ...bounds })
  const turn = await session.send('grow')
  await until('the tree grows', async () => (await count(session.id)).all > 10)
  await session.close({ cascade: true })
  expect((await turn.result()).stopReason).toBe('closed')
  await until('all sessions are closed', async () => (await count(session.id)).open === 0)
  await stello.client.temporal.workflow.getHandle(session.id).result()
  const { all, open } = await count(session.id)
  expect(open).toBe(0)
  // No step is left that could open another.
  const unsettled = `select from steps join sessions on id = session_id where root_id = $1 and kind = 'child' and outcome is null and owner is not null`
  expect((await stello.db.pool.query(unsettled, [session.id])).rowCount).toBe(0)
  expect((await count(session.id)).all).toBe(all)
}, 180_000)

it('a fork that was left open below a closed session is closed when the cascade is asked for again', async () => {
  const session = await stello.session({ llm: forking() })
  await ask(session, 'fork')
  const child = await onlyChild(stello.client, session)
  await ask(child, 'fork')
  const grandchild = await onlyChild(stello.client, child)
  await session.close()
  await stello.client.temporal.workflow.getHandle(session.id).result()
  await stello.client.temporal.workflow.getHandle(child.id).terminate()
  await expect(session.close()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  await session.close({ cascade: true })
  await eventOf(grandchild, 'session.closed')
  await session.close({ cascade: true })
  // A recover of the session whose workflow was ended finds that the session is to close.
  await child.recover()
  await eventOf(child, 'session.closed')
})
