/** What an activity finds around itself, for tests that call it without a worker of Temporal. */
import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { ActivityCancellationDetails, type ActivityCancellationDetailsOptions } from '@temporalio/common'

interface Surroundings {
  run: { sessionId: string; runId: string }
  token: Uint8Array
  /** Called with each heartbeat: what Temporal has to say comes with its answer. */
  heard?(): void
}

export interface FakeActivity {
  inside<T>(work: () => T): T
  /** As the SDK tells an activity that it is over for Temporal, or for its worker. */
  stop(why: ActivityCancellationDetailsOptions): void
}

export function fakeActivity({ run, token, heard = () => undefined }: Surroundings): FakeActivity {
  const stopping = new AbortController()
  let cancellationDetails: ActivityCancellationDetails | undefined
  const context = {
    info: {
      workflowNamespace: 'default',
      workflowExecution: { workflowId: run.sessionId, runId: run.runId },
      taskToken: token,
      startToCloseTimeoutMs: 60_000,
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
