/** What an operator does to a session's workflow in Temporal: resets it to an earlier point. */
import { defaultPayloadConverter } from '@temporalio/common'
import type { SessionHandle, StelloClient } from '../../src/client/index.ts'

/** `ResetReapplyExcludeType` of Temporal's API: signals after the point are dropped too. */
const SIGNALS = 1

/** Resets to the place just before the workflow asked for the step `key`, in the run that is the newest now. */
export async function resetBefore(
  client: StelloClient,
  session: SessionHandle,
  key: string,
  { forget = false } = {},
): Promise<void> {
  const handle = client.temporal.workflow.getHandle(session.id)
  const { runId } = await handle.describe()
  const { events } = await handle.fetchHistory()
  const asked = (events ?? []).find(
    (event) => keyOf(event.activityTaskScheduledEventAttributes?.input?.payloads) === key,
  )
  const point = asked?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId
  if (!point) throw new Error(`no activity of step ${key} in the history of ${session.id}`)
  await client.temporal.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: session.id, runId },
    workflowTaskFinishEventId: point,
    requestId: `${session.id}-${runId}-${key}`,
    reason: 'a test',
    ...(forget && { resetReapplyExcludeTypes: [SIGNALS] }),
  })
}

type Payloads = Parameters<typeof defaultPayloadConverter.fromPayload>[0][] | null | undefined

function keyOf(payloads: Payloads): string | undefined {
  const [payload] = payloads ?? []
  return payload && defaultPayloadConverter.fromPayload<{ key?: string }>(payload).key
}
