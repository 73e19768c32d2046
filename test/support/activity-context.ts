/** The environment of an activity, for tests that call it without a worker of Temporal. */
import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { ActivityCancellationDetails, type ActivityCancellationDetailsOptions } from '@temporalio/common'

interface Surroundings {
  run: { sessionId: string; runId: string }
  token: Uint8Array
  /** Called with each heartbeat, because Temporal notifies an activity only in its answers to heartbeats. */
  heard?(): void
  /** How long the activity may take, in milliseconds. Default a minute. */
  allowedMs?: number
}

export interface FakeActivity {
  inside<T>(work: () => T): T
  /** Tells the activity that it is over for Temporal, or for its worker, as the SDK does. */
  stop(why: ActivityCancellationDetailsOptions): void
}

export function fakeActivity({ run, token, heard = () => undefined, allowedMs = 60_000 }: Surroundings): FakeActivity {
  const stopping = new AbortController()
  let cancellationDetails: ActivityCancellationDetails | undefined
  const context = {
    info: {
      workflowNamespace: 'default',
      workflowExecution: { workflowId: run.sessionId, runId: run.runId },
      taskToken: token,
      startToCloseTimeoutMs: allowedMs,
    },
    cancellationSignal: stopping.signal,
    get cancellationDetails() {
      return cancellationDetails
    },
    heartbeat: heard,
  } as unknown as Context
  return {
    inside: (work) => asyncLocalStorage.run(context, work),
    stop(why) {
      cancellationDetails = new ActivityCancellationDetails(why)
      stopping.abort()
    },
  }
}
