/** An operator has ended a run before the store heard of it, and one of its activities comes late. */
import { expect, it } from 'vitest'
import { openSession } from '../../src/activities/session/open-session.ts'
import type { OpenSessionOutcome } from '../../src/protocol/steps.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { SESSION_WORKFLOW, type SessionInput } from '../../src/protocol/session-input.ts'
import { depsOf } from '../store/activity.ts'
import { TOKEN } from '../store/fixtures.ts'
import { fakeActivity } from '../support/activity-context.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()

const llm = scriptedModel(({ messages }) => `answer to ${messages.at(-1)?.content}`)

it('the first activity of a run that was terminated comes late, and the recovered session goes on', async () => {
  const name = `late-${Date.now()}`
  const worker = await stello.work({ name, llm })
  const session = await stello.client.createSession({ agent: name })
  await ask(session, 'one')
  await worker.stop()
  const { workflow } = stello.client.temporal
  await workflow.getHandle(session.id).terminate('an operator')
  // Nobody serves this session, so the store never hears of it.
  const input: SessionInput = {
    session: { sessionId: session.id, label: 'by hand' },
    agent: name,
    rootId: session.id,
    searchable: false,
  }
  const lost = await workflow.start(SESSION_WORKFLOW, { workflowId: session.id, taskQueue: name, args: [input] })
  await lost.terminate('an operator')
  await session.recover()
  await stello.work({ name, llm })
  expect(await ask(session, 'two')).toBe('answer to two')

  const runId = lost.firstExecutionRunId
  const deps = { ...depsOf(stello.db, { llm }), client: stello.client.temporal }
  const step = {
    sessionId: session.id,
    key: 'open',
    gen: 0,
    turn: 0,
    base: 0,
    place: { seq: 0, told: 0 },
    fresh: runId,
  }
  const late = (): Promise<OpenSessionOutcome> =>
    fakeActivity({ run: { sessionId: session.id, runId }, token: TOKEN }).inside(() => openSession(deps, step))
  expect(await late()).toEqual({ kind: 'closed' })

  expect(await ask(session, 'three')).toBe('answer to three')
  expect((await eventOf(session, 'session.restarted')).data).toMatchObject({ generation: 1 })
  expect((await session.transcript()).filter(({ role }) => role === 'user')).toHaveLength(3)
})
