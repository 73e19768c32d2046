/** The options of a session's steps and runs in Temporal: how long it waits, and that it never gives up. */
import { optionalTsToMs } from '@temporalio/common/lib/time.js'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { onlyChild, profiles } from '../support/forks.ts'
import { ask, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const workflow = (session: SessionHandle) => stello.client.temporal.workflow.getHandle(session.id)

/** For each kind of step: attempts (0 = without limit), seconds of silence that are allowed, seconds in all. */
async function limitsOf(session: SessionHandle): Promise<Record<string, (number | null | undefined)[]>> {
  const { events } = await workflow(session).fetchHistory()
  const scheduled = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: one }) => one ?? [])
  const seconds = (time: Parameters<typeof optionalTsToMs>[0]): number => (optionalTsToMs(time) ?? 0) / 1000
  return Object.fromEntries(
    scheduled.map(({ activityType, retryPolicy, heartbeatTimeout, startToCloseTimeout }) => [
      activityType?.name,
      [retryPolicy?.maximumAttempts, seconds(heartbeatTimeout), seconds(startToCloseTimeout)],
    ]),
  )
}

async function taskTimeoutMs(session: SessionHandle): Promise<number | undefined> {
  const { raw } = await workflow(session).describe()
  return optionalTsToMs(raw.executionConfig?.defaultWorkflowTaskTimeout)
}

it('gives each step its own time, a heartbeat and half a minute, tries it without end, and ends a workflow task that hangs after 5 s', async () => {
  const look = tool('look', 'Looks', z.object({}), () => 'seen', { timeout: 7000 })
  const fork = { name: 'stello_create_session', arguments: { label: 'fork', profile: 'p' } }
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'look' }, fork] }],
      [() => true, 'done'],
    ]),
  )
  const capabilities = { tools: [look], profiles: profiles({ p: { modelTimeout: 17_000 } }) }
  const session = await stello.session({ llm, capabilities, modelTimeout: 11_000, toolTimeout: 13_000 })
  await ask(session, 'go')
  const child = await onlyChild(stello.client, session)
  expect(await limitsOf(session)).toMatchObject({
    callModel: [0, 60, 11 + 120],
    callTool: [0, 60, 7 + 90],
    openChild: [0, 60, 13 + 90],
  })
  await ask(child, 'hello')
  expect(await limitsOf(child)).toMatchObject({ callModel: [0, 60, 17 + 120] })
  expect([await taskTimeoutMs(session), await taskTimeoutMs(child)]).toEqual([5000, 5000])
})
