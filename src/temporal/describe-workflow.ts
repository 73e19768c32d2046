/** Looks a session's workflow up in Temporal. */
import { WorkflowNotFoundError, type Client, type WorkflowExecutionDescription } from '@temporalio/client'

/** @returns undefined when Temporal knows no workflow of that id */
export function describeWorkflow(client: Client, id: string): Promise<WorkflowExecutionDescription | undefined> {
  return client.workflow
    .getHandle(id)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined
      throw error
    })
}
