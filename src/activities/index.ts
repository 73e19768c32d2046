/** The activities as the worker registers them: each bound to what the worker composed, each error translated for Temporal. */
import type { SessionActivities } from '../session/steps.ts'
import { announce } from './announce.ts'
import { callModel } from './call-model.ts'
import { callTool } from './call-tool.ts'
import type { Deps } from './deps.ts'
import { describeChildren } from './describe-children.ts'
import { toEndlessRetry, toFailure } from './failures.ts'
import { openChild } from './open-child.ts'
import { openSession } from './open-session.ts'
import { settleStep } from './settle-step.ts'

export function createActivities(deps: Deps): SessionActivities {
  const bind =
    <Input, Outcome>(
      activity: (deps: Deps, input: Input) => Promise<Outcome>,
      translate: (error: unknown) => Error = toFailure,
    ) =>
    async (input: Input): Promise<Outcome> => {
      try {
        return await activity(deps, input)
      } catch (error) {
        throw translate(error)
      }
    }
  return {
    openSession: bind(openSession, toEndlessRetry),
    callModel: bind(callModel),
    callTool: bind(callTool),
    openChild: bind(openChild),
    settleStep: bind(settleStep),
    announce: bind(announce, toEndlessRetry),
    describeChildren: bind(describeChildren),
  }
}
