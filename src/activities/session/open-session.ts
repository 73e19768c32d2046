/**
 * The first activity of every run. Finds the generation and the last record and turn in the store, and fixes the configuration
 * that the session keeps for life.
 */
import { StelloError, isStelloError } from '../../core/errors.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import { sessionIdProblem, userIdProblem } from '../../core/path-part.ts'
import { toPause, type Pause } from '../../core/pause.ts'
import { OPEN_KEY, hookKey } from '../../protocol/keys.ts'
import { permissionModeProblem } from '../../protocol/permission-mode.ts'
import type { NotStarted, OpenSessionInput, OpenSessionOutcome } from '../../protocol/steps.ts'
import { rootConfig } from '../child/fork.ts'
import { fixBounds } from '../../store/sessions/bounds.ts'
import type { Database } from '../../store/database/database.ts'
import { inputHash } from '../../store/ledger/hashes.ts'
import { keepMessage } from '../../store/transcript/message-bodies.ts'
import { lastSeq, readWholeRecord, type Generation } from '../../store/transcript/records.ts'
import { resolveRun } from '../../store/ledger/runs.ts'
import { readSession, type SessionRow } from '../../store/sessions/session-row.ts'
import { configureSession } from '../../store/sessions/sessions.ts'
import { lastTurn, readAbandonedTurn } from '../../store/transcript/turns.ts'
import type { Failed } from '../model/weather.ts'
import { sessionFacts } from './about-session.ts'
import { callForkHook } from '../child/call-fork-hook.ts'
import { currentAttempt, type Attempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'
import { shutsDown } from '../step/temporal-failures.ts'
import { findProfile, firstRecords, notPrepared, prepareChild, type PreparedChild } from '../child/prepare-child.ts'
import { killsWorkers } from '../step/quarantine.ts'
import { mustNotWait, runStep } from '../step/run-step.ts'

export async function openSession(deps: Deps, input: OpenSessionInput): Promise<OpenSessionOutcome> {
  const attempt = currentAttempt(deps, input)
  const { db } = deps
  const resolved = await resolveRun(db, attempt.run)
  if (resolved.kind !== 'current') return { kind: 'closed' }
  const row = await readSession(db, input.sessionId)
  if (!row || row.closedAt) return { kind: 'closed' }
  try {
    checkRow(row)
    const config = row.config.limits || row.closing ? row.config : await configure(deps, attempt, { input, row })
    if ('kind' in config) {
      if (config.kind === 'failed') return config
      // The session was open a moment ago. Now its row says that it closes, so look again.
      if (config.closing) return await openSession(deps, input)
      const pause: Pause = row.pause ?? { reason: 'user', message: 'paused before it was opened' }
      return { kind: 'failed', pause, found: true }
    }
    const current = { sessionId: input.sessionId, gen: resolved.gen }
    const seq = await lastSeq(db, current)
    const turn = await lastTurn(db, current)
    const { fresh } = attempt.run
    const unanswered = fresh && (await keepUnanswered(db, current))
    return {
      kind: 'opened',
      gen: resolved.gen,
      seq: input.turn === 0 ? seq : 0,
      turn: input.turn === 0 ? turn : 0,
      ...(unanswered && { unanswered }),
      ...(fresh && row.pause && { pause: row.pause }),
      ...(row.closing && { closing: true as const }),
      limits: config.limits ?? deps.agent.limits,
      model: {
        name: deps.agent.model(config.model).name,
        timeoutMs: deps.agent.waitsOf(config.profile, config.model).timeoutMs,
      },
    }
  } catch (error) {
    if (!isStelloError(error) || error.fate === 'retry') throw error
    return { kind: 'failed', pause: toPause(error) }
  }
}

/**
 * Repeats the checks of the client, because another program may have written the row.
 *
 * @throws StelloError STORE_CORRUPT naming the field: such a session does not begin
 */
function checkRow({ id, config: { userId, permissionMode } }: SessionRow): void {
  const problems = {
    id: sessionIdProblem(id),
    userId: userId === undefined ? undefined : userIdProblem(userId),
    permissionMode: permissionMode === undefined ? undefined : permissionModeProblem(permissionMode),
  }
  for (const [field, problem] of Object.entries(problems)) {
    if (problem === undefined) continue
    throw new StelloError('STORE_CORRUPT', `the row of session ${id}: ${field}: ${problem}`, {
      hint: 'correct it in the table `sessions`, then resume; or close the session',
    })
  }
}

/**
 * Returns the message whose turn was open when the workflow before this one was lost. Stores its text like that of a
 * waiting message.
 */
async function keepUnanswered(db: Database, current: Generation): Promise<string | undefined> {
  const open = await readAbandonedTurn(db, current)
  const { sessionId } = current
  const record = open && (await readWholeRecord(db, { sessionId, gen: open.gen, seq: open.seq }))
  if (!record) return undefined
  await keepMessage(db, sessionId, { messageId: open.messageId, text: record.message.content })
  return open.messageId
}

/**
 * Fixes prompt and limits for life. Does not do so if the session is being closed, or if it is paused; a resume then
 * asks again.
 */
async function configure(
  deps: Deps,
  attempt: Attempt,
  { input, row }: { input: OpenSessionInput; row: SessionRow },
): Promise<SessionConfig | NotStarted | Failed> {
  const { fork, ...given } = row.config
  if (fork) return configureFork(deps, attempt, { input, row, fork })
  const { agent } = deps
  const config: SessionConfig = {
    ...rootConfig(given, findProfile(agent, given.profile), agent),
    limits: agent.limitsOf(given.profile, given.model),
  }
  await fixBounds(deps.db, row.rootId, agent.bounds)
  await configureSession(deps.db, { sessionId: row.id, config })
  return config
}

/** The parent, whose configuration limits what a fork may get. It is fixed when the parent is opened. */
async function openedParent(db: Database, parentId: string): Promise<SessionRow> {
  const parent = await readSession(db, parentId)
  if (parent?.config.limits) return parent
  const named = `its parent ${parentId}`
  if (!parent || parent.closedAt) {
    throw new StelloError('SESSION_CLOSED', `${named} ${parent ? 'was closed before it was opened' : 'is gone'}`, {
      hint: 'nothing says what a fork of it may do: close this one',
    })
  }
  if (parent.pause && parent.pause.reason !== 'user') {
    throw new StelloError('SESSION_PAUSED', `${named} cannot be opened: ${parent.pause.message}`, {
      hint: 'resume the parent, then this session',
    })
  }
  throw new StelloError('STORE_UNAVAILABLE', `waits until ${named} is opened`, { retryAfterMs: 500 })
}

/** Leaves out what the fork's row says already: a fork must cost less than 1 KB. */
type ForkOutcome =
  | (Pick<PreparedChild, 'branch'> & { config: Omit<SessionConfig, 'agent' | 'searchable'> })
  /** Nothing was settled. A resume begins anew. */
  | { failed: StelloError }
  | NotStarted
  | Failed

/**
 * A session that a client forked gets its context here, because only a worker knows profiles. It is a step, because
 * `contextFn` is user code.
 */
async function configureFork(
  deps: Deps,
  attempt: Attempt,
  { input, row, fork }: { input: OpenSessionInput; row: SessionRow; fork: NonNullable<SessionConfig['fork']> },
): Promise<SessionConfig | NotStarted | Failed> {
  const { rootId, depth } = row
  const { fork: _prepared, ...given } = row.config
  const { request, at, messageId } = fork
  const { sessionId, turn, tries } = input
  const opening = {
    attempt,
    at: { sessionId, key: OPEN_KEY, turn, round: 0, ...(tries !== undefined && { tries }) },
    rootId,
  }
  const ran = await runStep<ForkOutcome>(deps, attempt, {
    step: { key: OPEN_KEY, kind: 'child', name: 'fork', inputHash: inputHash('open', sessionId), durable: false },
    async run(claim, stop) {
      const parent = await openedParent(deps.db, at.sessionId)
      try {
        const facts = sessionFacts(at.sessionId, parent)
        const prepared = await prepareChild(deps, {
          parent: parent.config,
          facts,
          opening,
          request,
          at,
          messageId,
          stop,
        })
        const { config, branch } = prepared
        const { agent: _inItsRow, searchable: _too, ...prepares } = config
        return {
          kind: 'settle',
          outcome: { config: prepares, ...(branch && { branch }) },
          writes: { records: await firstRecords(deps, prepared) },
        }
      } catch (error) {
        if (stop.aborted) throw shutsDown()
        return notPrepared(error, claim, (failed) => ({ kind: 'giveBack', result: { failed } }))
      }
    },
    quarantined: ({ deaths }) => ({
      kind: 'giveBack',
      result: { failed: killsWorkers('this fork was opened', deaths) },
    }),
    refused(_claim, message) {
      throw new StelloError('STORE_CORRUPT', `the fork cannot be stored: ${message}`)
    },
  })
  const result = mustNotWait(ran)
  if ('kind' in result) return result
  if (!('outcome' in result)) throw new Error(`the fork ${sessionId} met an opening`)
  if ('kind' in result.outcome) return result.outcome
  if ('failed' in result.outcome) throw result.outcome.failed
  const { branch } = result.outcome
  const config: SessionConfig = { ...given, ...result.outcome.config }
  const child = { sessionId, rootId, parentId: at.sessionId, depth, config }
  const held = await callForkHook(deps, attempt, { key: hookKey(OPEN_KEY), child })
  if (held) return held
  await configureSession(deps.db, { sessionId, config, ...(branch && { branch }) })
  return config
}
