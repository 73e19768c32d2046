/** A session is written to the store first and started then. A request in between must not take it for lost. */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createSessionHandle } from '../../src/client/session-handle.ts'
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
