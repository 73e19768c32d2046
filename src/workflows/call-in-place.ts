/** Runs a tool call where its working folder is, if it has one. Decides nothing: activities and the store do. */
import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow'
import type { CallToolInput, ToolOutcome } from '../protocol/steps.ts'
import { hostActivity, stepActivity } from './activities.ts'

/** @throws ActivityFailure as any activity does */
export async function callInPlace(input: CallToolInput, timeoutMs: number, summary: string): Promise<ToolOutcome> {
  const anywhere = stepActivity('callTool', timeoutMs, summary)
  let outcome = await anywhere(input)
  while (outcome.kind === 'elsewhere') {
    const { host, generation } = outcome
    const sent = { host, generation }
    try {
      outcome = await hostActivity(outcome, timeoutMs, `${summary} on ${host}`)({ ...input, sent })
    } catch (error) {
      if (!isUntaken(error)) throw error
      outcome = await anywhere({ ...input, sent: { ...sent, untaken: true } })
    }
  }
  return outcome
}

/** No worker of the host has taken the call in time. */
function isUntaken(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || !(error.cause instanceof TimeoutFailure)) return false
  return error.cause.timeoutType === 'SCHEDULE_TO_START'
}
