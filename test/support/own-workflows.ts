/** Workflows of a user, beside those of the sessions. */
import { proxyActivities } from '@temporalio/workflow'

interface OwnActivities {
  greet(name: string): Promise<string>
}

const { greet } = proxyActivities<OwnActivities>({ startToCloseTimeout: '1 minute' })

export async function greeting(name: string): Promise<string> {
  return greet(name)
}
