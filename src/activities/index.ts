/**
 * The activities as the worker registers them: each bound to what the worker composed and begun for sessions of its store
 * only, each error translated for Temporal.
 */
import { Context } from '@temporalio/activity'
import type { SessionActivities } from '../protocol/session-activities.ts'
import { announce } from './session/announce.ts'
import { callModel } from './model/call-model.ts'
import { compact, settleCompaction } from './compaction/compact.ts'
import { callTool } from './tool/call-tool.ts'
import type { Deps } from './deps.ts'
import { describeChildren } from './child/describe-children.ts'
import { withNextTry } from './next-try.ts'
import { toEndlessRetry, toFailure } from './step/temporal-failures.ts'
import { notifyPeople } from './session/notify-people.ts'
import { openChild } from './child/open-child.ts'
import { releaseSession } from './session/release-session.ts'
import { openSession } from './session/open-session.ts'
import type { Belonging, RightStore } from './session/right-store.ts'
import { settleModel } from './model/settle-model.ts'
import { settleTool } from './tool/settle-tool.ts'

/** Nothing of an activity runs for a session that is not admitted. */
export function createActivities(deps: Deps, { admit }: Pick<RightStore, 'admit'>): SessionActivities {
  const bind =
    <Input extends Parameters<SessionActivities[keyof SessionActivities]>[0], Outcome>(
      activity: (deps: Deps, input: Input) => Promise<Outcome>,
      translate: (error: unknown) => Error = toFailure,
    ) =>
    async (input: Input): Promise<Outcome> => {
      try {
        const session = sessionOf(input)
        if (session) admit(session, Context.current().info.attempt)
        return withNextTry(deps, input, await activity(deps, input))
      } catch (error) {
        throw translate(error)
      }
    }
  return {
    openSession: bind(openSession, toEndlessRetry),
    callModel: bind(callModel),
    compact: bind(compact),
    settleCompaction: bind(settleCompaction),
    callTool: bind(callTool),
    openChild: bind(openChild),
    settleModel: bind(settleModel),
    settleTool: bind(settleTool),
    announce: bind(announce, toEndlessRetry),
    notifyPeople: bind(notifyPeople, toEndlessRetry),
    releaseSession: bind(releaseSession, toEndlessRetry),
    describeChildren: bind(describeChildren),
  }
}

/** Undefined for `describeChildren`, which does not ask the store: only Temporal knows which children have ended. */
function sessionOf(input: Parameters<SessionActivities[keyof SessionActivities]>[0]): Belonging | undefined {
  if ('children' in input) return undefined
  return 'step' in input ? input.step : input
}
