/** Temporal does not start the workflow of a session: nothing is left of it, or something that can be closed. */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { connectStello } from '../../src/client/index.ts'
import type { ClientDeps } from '../../src/client/client-deps.ts'
import { startSession } from '../../src/client/start-session.ts'
import { readSession } from '../../src/store/sessions/session-row.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { useStello } from '../support/session-fixture.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const stello = useStello()
const newId = (): string => `s-${randomBytes(4).toString('hex')}`
const config = { agent: 'nobody', label: 'a phantom', model: 'agent', tools: 'agent' } as const

it('leaves nothing behind when Temporal refuses the start, says why, and the id is free', async () => {
  const wrong = await connectStello({ ...stello.servers, namespace: 'no-such-namespace' })
  const sessionId = newId()
  await expect(wrong.createSession({ agent: 'nobody', sessionId })).rejects.toMatchObject({
    code: 'SERVER_UNREACHABLE',
    message: expect.stringContaining('does not know the namespace'),
    hint: expect.stringContaining('TEMPORAL_NAMESPACE'),
  })
  expect(await stello.client.list()).toEqual([])
  const session = await stello.client.createSession({ agent: 'nobody', sessionId })
  expect(session.id).toBe(sessionId)
  await wrong.close()
})

it('keeps a session whose start nobody has confirmed, and names the commands that complete or end it', async () => {
  const proxy = await startTcpProxy(stello.servers.temporalAddress)
  const away = await connectStello({ ...stello.servers, temporalAddress: proxy.address })
  await proxy.close()
  const sessionId = newId()
  const asked = away.temporal.withDeadline(Date.now() + 1000, () => away.createSession({ agent: 'nobody', sessionId }))
  await expect(asked).rejects.toMatchObject({
    code: 'SERVER_UNREACHABLE',
    hint: expect.stringContaining(`stello close ${sessionId}`),
  })
  expect((await stello.client.session(sessionId).state()).state).toBe('idle')
  await stello.client.session(sessionId).close()
  expect((await stello.client.session(sessionId).state()).state).toBe('closed')
  await away.close()
})

it('can be closed with its forks when only its row exists, and a start that comes late finds it closed', async () => {
  const { taskQueue: agent } = await stello.work({ llm: scriptedModel([]) })
  const [root, child] = [newId(), newId()]
  const row = { sessionId: root, rootId: root, depth: 0, config: { ...config, agent }, origin: `client/${root}` }
  await createSession(stello.db, row)
  await createSession(stello.db, { ...row, sessionId: child, parentId: root, depth: 1, origin: `client/${child}` })
  const session = stello.client.session(root)
  await session.close({ cascade: true })
  expect((await session.tree()).children[0]?.state).toBe('closed')
  await expect(session.close()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })

  const { temporal: client } = stello.client
  const deps = { client, db: stello.db, searchable: async () => false } as unknown as ClientDeps
  await startSession(deps, row)
  await client.workflow.getHandle(root).result()
  expect((await readSession(stello.db, root))?.opened).toBe(false)
})
