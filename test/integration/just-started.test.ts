/** A session is written to the store first and started then. A request in between must not take it for lost. */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createSessionHandle } from '../../src/client/session-handle.ts'
import { reachSession } from '../../src/client/reach-session.ts'
import type { ClientDeps } from '../../src/client/client-deps.ts'
import { readSession } from '../../src/store/sessions/session-row.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()

it('is reached although it was started and opened between the look at Temporal and the look at the store', async () => {
  const { taskQueue: agent } = await stello.work({ llm: scriptedModel(['Here I am.']) })
  const sessionId = `s-${randomBytes(4).toString('hex')}`
  const config = { agent, label: 'young', model: 'agent', tools: 'agent' } as const
  const row = { sessionId, rootId: sessionId, depth: 0, config, origin: `client/${sessionId}` }
  await createSession(stello.db, row)
  const { temporal } = stello.client
  const handle = temporal.workflow.getHandle(sessionId)
  let looks = 0
  const slow = {
    ...handle,
    async signal(...args: Parameters<typeof handle.signal>) {
      looks++
      return handle.signal(...args).catch(async (error: unknown) => {
        await stello.client.createSession({ agent, label: 'young', sessionId })
        await until('the session is opened', async () => (await readSession(stello.db, sessionId))?.opened)
        throw error
      })
    },
  }
  const deps = {
    client: { workflow: { getHandle: () => slow } },
    db: stello.db,
    namespace: 'default',
  } as unknown as ClientDeps
  await createSessionHandle(deps, sessionId).send('Where are you?', { messageId: 'm' })
  expect(looks).toBe(2)
  const { text } = await stello.client.session(sessionId).turn('m').result()
  expect(text).toBe('Here I am.')
})

const reach = () => ({ client: stello.client.temporal, db: stello.db })

it.each([
  [
    'a fork whose parent has no worker',
    true,
    /^session \S+ has not started within 0.1 s: a worker starts it for its parent /,
  ],
  [
    'a session whose creation was cut off',
    false,
    /^session \S+ has not started within 0.1 s: whoever created it did not/,
  ],
])('%s is not taken for lost when it does not start in time', async (_name, forked, problem) => {
  const agent = 'nobody'
  const rootId = `s-${randomBytes(4).toString('hex')}`
  const config = { agent, label: 'unborn', model: 'agent', tools: 'agent' } as const
  await createSession(stello.db, { sessionId: rootId, rootId, depth: 0, config, origin: `client/${rootId}` })
  const child = { sessionId: `${rootId}-fork`, rootId, parentId: rootId, depth: 1, config, origin: 'a-call' }
  if (forked) await createSession(stello.db, child)
  const id = forked ? child.sessionId : rootId
  const workflow = stello.client.temporal.workflow.getHandle(id)
  const sent = reachSession({ ...reach(), withinMs: 100 }, id, () => workflow.signal('message', {}))
  await expect(sent).rejects.toMatchObject({ code: 'AGENT_NOT_SERVED', message: expect.stringMatching(problem) })
  await expect(sent).rejects.toHaveProperty('hint', expect.stringContaining(`stello close ${id}`))
})

it('is called gone when it was terminated before a worker opened it', async () => {
  const session = await stello.client.createSession({ agent: `nobody-${randomBytes(4).toString('hex')}` })
  const workflow = stello.client.temporal.workflow.getHandle(session.id)
  await workflow.terminate()
  const sent = reachSession({ ...reach(), withinMs: 100 }, session.id, () => workflow.signal('message', {}))
  await expect(sent).rejects.toMatchObject({
    code: 'SESSION_TERMINATED',
    hint: expect.stringContaining('stello recover'),
  })
  expect(await session.recover()).toMatchObject({ restarted: true })
})
