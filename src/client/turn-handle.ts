/** Waiting for an answer, from any process, also later: the turn is a row. */
import { WorkflowNotFoundError } from '@temporalio/client'
import { StelloError, isUnavailable } from '../agent/errors.ts'
import { rejectionKey, type Usage } from '../agent/message.ts'
import type { Pause, StopReason } from '../session/steps.ts'
import type { Database } from '../store/database.ts'
import { readEvent } from '../store/events.ts'
import { isLeftBehind } from '../store/runs.ts'
import { readTurnNow } from '../store/turns.ts'
import { throwUnknown, type ClientDeps } from './start-session.ts'
import { waitForNews } from './wait-for-news.ts'

/** Temporal is asked this often whether the session still lives. */
const DESCRIBE_EVERY_MS = 10_000
/** Meanwhile the row is not looked at. */
const DESCRIBED_WITHIN_MS = 5000

export interface TurnResult {
  text: string
  stopReason: StopReason
  usage: Usage
  rounds: number
}

export interface ResultOptions {
  /** What to do while the session is paused. Default `wait`. */
  onPause?: 'wait' | 'throw'
  signal?: AbortSignal
}

export interface TurnHandle {
  readonly messageId: string
  /**
   * A server that is away meanwhile does not end the wait: the turn goes on too.
   *
   * @throws StelloError SESSION_PAUSED (with `onPause: 'throw'`), SESSION_TERMINATED when the workflow was ended from
   * outside, STORE_CORRUPT when Temporal has fallen behind the store, SESSION_CLOSED or INVALID_MESSAGE when the session did not take the message
   */
  result(options?: ResultOptions): Promise<TurnResult>
}

export function createTurnHandle(deps: ClientDeps, sessionId: string, messageId: string): TurnHandle {
  return { messageId, result: (options = {}) => waitForResult(deps, sessionId, messageId, options) }
}

async function waitForResult(
  deps: ClientDeps,
  sessionId: string,
  messageId: string,
  { onPause = 'wait', signal }: ResultOptions,
): Promise<TurnResult> {
  const news = waitForNews(deps.listener, (id) => id === sessionId, { for: 'decision' })
  let described = performance.now()
  try {
    for (;;) {
      signal?.throwIfAborted()
      try {
        const result = await look()
        if (result) return result
      } catch (error) {
        // While the store is away nothing is known: the turn goes on.
        if (!isUnavailable(error)) throw error
      }
      await news.next(signal)
    }
  } finally {
    news.stop()
  }

  async function look(): Promise<TurnResult | undefined> {
    const { closed, pause, turn, usage, rejected } =
      (await readTurnNow(deps.db, sessionId, messageId, rejectionKey(messageId))) ?? throwUnknown(sessionId)
    if (turn?.status === 'ended' && usage) {
      const { text = '', stopReason = 'end_turn', rounds = 0 } = turn
      return { text, stopReason, rounds, usage }
    }
    if (rejected !== undefined) throwRejected(sessionId, messageId, rejected)
    if (closed)
      throw new StelloError('SESSION_CLOSED', `session ${sessionId} closed before it took message ${messageId}`)
    if (pause && onPause === 'throw') throwPaused(sessionId, pause)
    if (performance.now() - described > DESCRIBE_EVERY_MS) {
      described = performance.now()
      await throwIfEnded(deps, sessionId)
    }
    return undefined
  }
}

/** @throws StelloError INVALID_MESSAGE when the session has refused that message: it would not take it now either */
export async function refuseRejected(db: Database, sessionId: string, messageId: string): Promise<void> {
  const rejected = await readEvent(db, sessionId, rejectionKey(messageId))
  if (rejected) throwRejected(sessionId, messageId, String(rejected.data['reason']))
}

function throwRejected(sessionId: string, messageId: string, reason: string): never {
  throw new StelloError('INVALID_MESSAGE', `session ${sessionId} refused message ${messageId}: ${reason}`, {
    hint: 'send it once more with a new message id',
  })
}

function throwPaused(sessionId: string, { reason, message, hint }: Pause): never {
  throw new StelloError('SESSION_PAUSED', `session ${sessionId} is paused (${reason}): ${message}`, {
    hint: `${hint ? `${hint}; ` : ''}\`stello resume ${sessionId}\` goes on with the same turn`,
  })
}

/** Temporal that does not answer says nothing of the turn: the row decides. */
async function throwIfEnded({ client, db }: ClientDeps, sessionId: string): Promise<void> {
  const found = await client
    .withDeadline(Date.now() + DESCRIBED_WITHIN_MS, () => client.workflow.getHandle(sessionId).describe())
    .then(
      ({ status, runId }) => ({ status: status.name, runId }),
      (error: unknown) => (error instanceof WorkflowNotFoundError ? { status: 'NOT_FOUND', runId: '' } : undefined),
    )
  if (!found) return
  const { status, runId } = found
  if (status === 'RUNNING' && (await isLeftBehind(db, sessionId, runId))) {
    throw new StelloError(
      'STORE_CORRUPT',
      `Temporal runs an earlier state of session ${sessionId} than the store has`,
      {
        hint: `was it restored from a copy? \`stello recover ${sessionId} --restart\` goes on from the store`,
      },
    )
  }
  if (status === 'RUNNING' || status === 'COMPLETED' || status === 'CONTINUED_AS_NEW') return
  throw new StelloError('SESSION_TERMINATED', `the workflow of session ${sessionId} has ended: ${status}`, {
    hint: `\`stello recover ${sessionId}\` goes on from where it ended`,
  })
}
