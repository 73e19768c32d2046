/** One attempt of an activity as Temporal runs it: its run, its task token, and the reason to stop it. */
import { Context } from '@temporalio/activity'
import { preview } from '../../core/message.ts'
import { WorkflowNotFoundError, type Client } from '@temporalio/client'
import { StelloError, messageOf } from '../../core/errors.ts'
import type { StepRef } from '../../protocol/steps.ts'
import type { RunRef } from '../../store/ledger/abandon-future.ts'
import type { StopWhy } from './in-flight.ts'

/** How often a running step sends a heartbeat. A cancellation arrives with the answer to one. */
const HEARTBEAT_EVERY_MS = 1000

/** The part of an activity's time that is kept for reading and settling. If the time is short, half of it is kept. */
const LEDGER_MS = 20_000

/** Longest wait for Temporal's answer. The session's row is locked while we wait. */
const DESCRIBED_WITHIN_MS = 5000

export interface Attempt {
  run: RunRef
  token: Uint8Array
  /** How long the work may take before Temporal gives the activity up. */
  withinMs: number
  /**
   * Sets the text that people read in Temporal beside the running step. It replaces the work's own detail; unset: no
   * text.
   */
  note(text: string | undefined): void
  /**
   * Sends heartbeats with the current detail while `work` is pending. Calls `stop` with the reason when the work should
   * stop.
   */
  attend<T>(work: Promise<T>, stop: (why: StopWhy) => void, detail?: () => unknown): Promise<T>
}

export function currentAttempt({ client }: { client: Client }, ref: StepRef): Attempt {
  const context = Context.current()
  const { workflowExecution, workflowNamespace, taskToken, startToCloseTimeoutMs: allowedMs } = context.info
  if (!workflowExecution) throw new Error('a session activity runs outside a workflow')
  const { sessionId, prevRunId, gen, turn, place } = ref
  const { runId } = workflowExecution
  let note: string | undefined
  return {
    run: {
      sessionId,
      runId,
      namespace: workflowNamespace ?? '',
      isNewest: () => isNewest(client, { sessionId, runId }),
      gen,
      turn,
      place,
      ...(ref.fresh === runId && { fresh: true }),
      ...(prevRunId !== undefined && { prevRunId }),
    },
    token: taskToken,
    withinMs: Math.max(allowedMs - LEDGER_MS, allowedMs / 2),
    note(text) {
      note = text === undefined ? undefined : preview(text)
    },
    async attend(work, stop, detail = () => undefined) {
      const heartbeat = setInterval(() => context.heartbeat(note ?? detail()), HEARTBEAT_EVERY_MS)
      const signal = context.cancellationSignal
      const stopped = (): void => {
        const why = whyStopped(context)
        if (why) stop(why)
      }
      if (signal.aborted) stopped()
      signal.addEventListener('abort', stopped)
      try {
        return await work
      } finally {
        clearInterval(heartbeat)
        signal.removeEventListener('abort', stopped)
      }
    },
  }
}

/**
 * False for a run that has ended or that Temporal does not know.
 *
 * @throws StelloError STORE_UNAVAILABLE when Temporal does not answer: the caller tries again
 */
async function isNewest(client: Client, { sessionId, runId }: { sessionId: string; runId: string }): Promise<boolean> {
  try {
    const described = await client.withDeadline(Date.now() + DESCRIBED_WITHIN_MS, () =>
      client.workflow.getHandle(sessionId).describe(),
    )
    return described.runId === runId && described.closeTime === undefined
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    const unknown = `Temporal does not say which run of session ${sessionId} is the newest: ${messageOf(error)}`
    throw new StelloError('STORE_UNAVAILABLE', unknown, { cause: error })
  }
}

/**
 * A time-out or "not found" from Temporal is no reason to stop: perhaps the server was only away for a moment
 * (durability 2).
 */
function whyStopped(context: Context): StopWhy | undefined {
  const details = context.cancellationDetails
  if (details?.cancelRequested) return 'cancel'
  return details?.workerShutdown ? 'shutdown' : undefined
}
