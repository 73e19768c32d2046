/** Waiting for an answer, from any process, also later: the turn is a row. */
import { WorkflowNotFoundError } from '@temporalio/client'
import { StelloError, isUnavailable } from '../core/errors.ts'
import type { Usage } from '../core/message.ts'
import type { StopReason } from '../protocol/steps.ts'
import type { Database } from '../store/database/database.ts'
import { readRejection } from '../store/watching/event-log.ts'
import { readHoldups, type InboxItem } from '../store/watching/inbox.ts'
import { isLeftBehind } from '../store/ledger/runs.ts'
import { readTurnNow } from '../store/transcript/turns.ts'
import { heldUp, keyOf } from './holdups.ts'
import type { ClientDeps } from './client-deps.ts'
import { throwUnknown } from './start-session.ts'
import { waitForNews, type HeardAhead } from './wait-for-news.ts'

/** How often Temporal is asked whether the session still lives. */
const DESCRIBE_EVERY_MS = 10_000
/** The longest such question; the row is not read meanwhile. */
const DESCRIBED_WITHIN_MS = 5000
/** How often the sessions below are checked: the turn may be held up far below, where nobody notifies this session. */
const HOLDUPS_EVERY_MS = 1000

/** How a turn ended. */
export interface TurnResult {
  /** The answer: the model's last text, or what a tool ended the turn with. */
  text: string
  /** Why the turn ended. */
  stopReason: StopReason
  /** Tokens of all its model calls, and their cost. */
  usage: Usage
  /** Rounds of tool calls. */
  rounds: number
}

/** How to wait for an answer. */
export interface ResultOptions {
  /**
   * What to do when the turn cannot go on by itself, because the session, or one that it waits for at any depth, is
   * paused or waits for a person. `wait` (default), `throw`, or a function that is called once with each such item; if
   * it throws, the wait ends.
   *
   * @example await turn.result({ onPause: ({ sessionId, message }) => console.log(sessionId, message) })
   */
  onPause?: 'wait' | 'throw' | ((item: InboxItem) => void)
  /** Ends the wait, not the turn: `result` rejects with the reason of the signal. */
  signal?: AbortSignal
}

/** One turn: a message, and the answer to it. */
export interface TurnHandle {
  /** The id of the message that the turn answers. */
  readonly messageId: string
  /**
   * Waits for the answer. A server that is away for a while does not end the wait: the turn goes on too.
   *
   * @throws StelloError SESSION_PAUSED (with `onPause: 'throw'`) naming which session holds it up, why, and the command that
   * helps; SESSION_TERMINATED when the workflow was ended from outside, STORE_CORRUPT when Temporal has fallen behind the
   * store, SESSION_CLOSED or INVALID_MESSAGE when the session did not take the message
   * @example const { text, usage } = await turn.result()
   */
  result(options?: ResultOptions): Promise<TurnResult>
}

/** The turn that answers a message, and what was heard of its session since before the message was sent. */
interface Awaited {
  sessionId: string
  messageId: string
  heard?: HeardAhead | undefined
}

export function createTurnHandle(deps: ClientDeps, turn: Awaited): TurnHandle {
  return { messageId: turn.messageId, result: (options = {}) => waitForResult(deps, turn, options) }
}

async function waitForResult(
  deps: ClientDeps,
  { sessionId, messageId, heard }: Awaited,
  { onPause = 'wait', signal }: ResultOptions,
): Promise<TurnResult> {
  const watched = onPause === 'wait' ? {} : { lookMs: HOLDUPS_EVERY_MS }
  const ahead = onPause === 'wait' ? heard?.take() : undefined
  const news = ahead ?? waitForNews(deps.listener, sessionId, { for: 'decision', ...watched })
  const told = new Set<string>()
  let described = performance.now()
  try {
    if (ahead) await ahead.next(signal)
    for (;;) {
      signal?.throwIfAborted()
      try {
        const result = await look()
        if (result) return result
      } catch (error) {
        // While the store is away, nothing is known: the turn goes on.
        if (!isUnavailable(error)) throw error
      }
      await news.next(signal)
    }
  } finally {
    news.stop()
  }

  async function look(): Promise<TurnResult | undefined> {
    // This comes first, so that only a turn that has not ended is reported as held up.
    const holdups = onPause === 'wait' ? undefined : await readHoldups(deps.db, [sessionId])
    const { closed, turn, usage, rejected } =
      (await readTurnNow(deps.db, sessionId, messageId)) ?? throwUnknown(sessionId)
    if (turn?.status === 'ended' && usage) {
      const { text = '', stopReason = 'end_turn', rounds = 0 } = turn
      return { text, stopReason, rounds, usage }
    }
    if (rejected !== undefined) throwRejected(sessionId, messageId, rejected)
    if (closed)
      throw new StelloError('SESSION_CLOSED', `session ${sessionId} closed before it took message ${messageId}`)
    holdups?.get(sessionId)?.forEach(tell)
    if (performance.now() - described > DESCRIBE_EVERY_MS) {
      described = performance.now()
      await throwIfEnded(deps, sessionId)
    }
    return undefined
  }

  function tell(item: InboxItem): void {
    if (onPause === 'throw') throw heldUp(sessionId, item)
    if (onPause !== 'wait' && !told.has(keyOf(item))) onPause(item)
    told.add(keyOf(item))
  }
}

/** @throws StelloError INVALID_MESSAGE when the session has refused that message: it would not take it now either */
export async function refuseRejected(db: Database, sessionId: string, messageId: string): Promise<void> {
  const reason = await readRejection(db, sessionId, messageId)
  if (reason !== undefined) throwRejected(sessionId, messageId, reason)
}

function throwRejected(sessionId: string, messageId: string, reason: string): never {
  throw new StelloError('INVALID_MESSAGE', `session ${sessionId} refused message ${messageId}: ${reason}`, {
    hint: 'send it once more with a new message id',
  })
}

/** If Temporal does not answer, the row decides. */
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
