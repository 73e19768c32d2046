/** What a session's workflow says about itself, asked again until it fits, and what Temporal shows of the session. */
import type { SessionHandle, StelloClient } from '../../src/client/index.ts'
import { stateQuery } from '../../src/protocol/temporal-messages.ts'
import { type SessionView } from '../../src/protocol/views.ts'
import { serviceErrorOf } from '../../src/temporal/temporal-trouble.ts'

/** The gRPC codes of a question that nobody has answered in time: by the client's clock, or as the server ends the call. */
const UNANSWERED: readonly number[] = [1, 4]
/** Temporal may hand a query to a poll of a worker that has just stopped. Then nobody answers it, and it is asked again. */
const ANSWERED_WITHIN_MS = 5000

/** Asks the workflow until the answer fits. Each question is a round trip to the worker. */
export async function viewOf(
  client: StelloClient,
  session: SessionHandle,
  fits: (view: SessionView) => boolean = (view) => view.status === 'idle',
): Promise<SessionView> {
  const { temporal } = client
  for (;;) {
    const view = await temporal
      .withDeadline(Date.now() + ANSWERED_WITHIN_MS, () => temporal.workflow.getHandle(session.id).query(stateQuery))
      .catch(unlessUnanswered)
    if (view && fits(view)) return view
  }
}

function unlessUnanswered(error: unknown): undefined {
  const code = serviceErrorOf(error)?.code
  if (code === undefined || !UNANSWERED.includes(code)) throw error
}

/** Bytes and events of a workflow's history, as the server counts them. */
export async function historyOf(client: StelloClient, sessionId: string): Promise<{ bytes: number; events: number }> {
  const { historyLength, historySize = 0 } = await client.temporal.workflow.getHandle(sessionId).describe()
  return { bytes: historySize, events: historyLength }
}

/** What Temporal shows of the steps under way: the last failure, and the note of the last heartbeat. */
export async function stepsShown(client: StelloClient, session: SessionHandle): Promise<string> {
  const { raw } = await client.temporal.workflow.getHandle(session.id).describe()
  const steps = raw.pendingActivities ?? []
  return steps
    .map(({ lastFailure, heartbeatDetails }) => {
      const notes = (heartbeatDetails?.payloads ?? []).map((payload) => Buffer.from(payload.data ?? []).toString())
      return [lastFailure?.message, ...notes].join(' ')
    })
    .join('\n')
}
