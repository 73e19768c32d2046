/** Asks Temporal which children have ended, for a parent whose run has no handle of them (docs/durability.md, 6). */
import type { WorkflowExecutionDescription } from '@temporalio/client'
import type { DescribeChildrenInput, EndedChild } from '../../protocol/steps.ts'
import type { Deps } from '../deps.ts'
import { describeWorkflow } from '../../temporal/describe-workflow.ts'

export async function describeChildren({ client }: Deps, { children }: DescribeChildrenInput): Promise<EndedChild[]> {
  const looked = await Promise.all(
    children.map(async (childId): Promise<EndedChild | undefined> => {
      const how = endOf(await describeWorkflow(client, childId))
      return how === undefined ? undefined : { childId, how }
    }),
  )
  return looked.filter((child) => child !== undefined)
}

function endOf(child: WorkflowExecutionDescription | undefined): string | undefined {
  if (!child) return 'is gone from Temporal'
  return child.closeTime && child.status.name !== 'CONTINUED_AS_NEW'
    ? `ended without an answer (${child.status.name})`
    : undefined
}
