/** What an operator does directly in Temporal, without the client. */
import type { WorkflowHandle } from '@temporalio/client'
import { defaultPayloadConverter } from '@temporalio/common'
import type { SessionHandle, StelloClient } from '../../src/client/index.ts'
import type { StepRef } from '../../src/protocol/steps.ts'

/**
 * Starts a workflow with the id and the input of the session's last workflow, whatever has happened to that workflow.
 */
export async function startByHand(
  { temporal: { workflow } }: StelloClient,
  { id }: SessionHandle,
  signal?: { name: string },
): Promise<WorkflowHandle> {
  const { type, taskQueue } = await workflow.getHandle(id).describe()
  const { events } = await workflow.getHandle(id).fetchHistory()
  const [input] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
  const options = { workflowId: id, taskQueue, args: [JSON.parse(Buffer.from(input?.data ?? []).toString())] }
  return signal ? workflow.signalWithStart(type, { ...options, signal: signal.name }) : workflow.start(type, options)
}

/** The inputs of a run's activities. */
export function stepsAsked({ events }: Awaited<ReturnType<WorkflowHandle['fetchHistory']>>): StepRef[] {
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const [input] = scheduled?.input?.payloads ?? []
    return input ? [defaultPayloadConverter.fromPayload<StepRef>(input)] : []
  })
}
