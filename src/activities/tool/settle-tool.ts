/**
 * Ends a tool call whose activity ended without an outcome, or a call that waits for a child or a person. This code
 * proposes an outcome, and the ledger decides.
 */
import { StelloError, type ToolErrorCode } from '../../core/errors.ts'
import { openingKey } from '../../protocol/keys.ts'
import type { CallToolInput, Proposal, SettleToolInput, ToolOutcome } from '../../protocol/steps.ts'
import { forceStep } from '../../store/ledger/settle.ts'
import { readTurnByNumber, type TurnRow } from '../../store/transcript/turns.ts'
import { currentAttempt } from '../step/attempt.ts'
import { awaitHolder } from '../step/await-holder.ts'
import type { Deps } from '../deps.ts'
import { countCall } from '../metrics.ts'
import { endStep } from '../step/end-step.ts'
import { finish, type CallEnd } from './finish.ts'
import { endLost } from './lost-call.ts'
import { settleAnswered } from './settle-answered.ts'
import { readCallAtHand } from './call-at-hand.ts'

/** Includes every generation of the child. */
const NEWEST = 2 ** 31 - 1

export async function settleTool(deps: Deps, { step, proposed, opening }: SettleToolInput): Promise<ToolOutcome> {
  const attempt = currentAttempt(deps, step)
  const at = await readCallAtHand(deps, step)
  const key = opening ? openingKey(step.key) : step.key
  if (proposed.kind === 'answered') return settleAnswered(deps, { attempt, at }, { said: proposed.answer, key })
  if (proposed.kind === 'expired') return settleAnswered(deps, { attempt, at }, { said: proposed, key })
  const end = await endOf(deps, step, proposed)
  const lost = proposed.kind === 'cancelled' || proposed.kind === 'timedOut' ? proposed.kind : undefined
  const proposing = {
    run: attempt.run,
    key,
    kind: opening ? 'child' : 'tool',
    name: step.call.name,
    ...(lost && { holder: { owner: deps.bootId, token: attempt.token } }),
  }
  if (lost === 'timedOut') await awaitHolder(deps, attempt, proposing.key)
  const forced = await forceStep(deps.db, proposing)
  if ('outcome' in forced) return forced.outcome as ToolOutcome
  const found = lost && (await endLost(deps, { attempt, at }, { forced, how: lost }))
  // The wait for a child counts as the call's duration. Nobody knows when a lost call ended.
  const durationMs = lost ? 0 : forced.ageMs
  return endStep(deps, forced, {
    ending: found ?? finish({ input: step, claim: forced, chain: at.chain, durationMs, end }),
    settled: (outcome) => countCall(deps.metrics, at, { outcome, untimed: true }),
  })
}

async function endOf(
  deps: Deps,
  step: CallToolInput,
  proposed: Exclude<Proposal, { kind: 'answered' | 'expired' }>,
): Promise<CallEnd> {
  switch (proposed.kind) {
    case 'cancelled':
      return failed('TOOL_CANCELLED', `"${step.call.name}" was cancelled; if it had begun, it may have taken effect`)
    case 'timedOut':
      return failed('TOOL_TIMEOUT', `"${step.call.name}" did not end in time, and its worker did not say why`)
    case 'childEnded':
      return answerOf(
        proposed.childId,
        await readTurnByNumber(deps.db, { sessionId: proposed.childId, gen: proposed.childGen }, proposed.childTurn),
      )
    case 'childLost': {
      const answered = await readTurnByNumber(deps.db, { sessionId: proposed.childId, gen: NEWEST }, 1)
      if (answered?.status === 'ended') return answerOf(proposed.childId, answered)
      return failed('TOOL_EXECUTION_ERROR', `child session ${proposed.childId} ${proposed.message}`)
    }
  }
}

/** What the model reads about a child: its answer, and a note if it did not end by itself. */
function answerOf(childId: string, turn: TurnRow | undefined): CallEnd {
  const text = turn?.text ?? ''
  switch (turn?.stopReason) {
    case 'end_turn':
    case 'completed':
      return { value: text }
    case 'max_tool_rounds':
    case 'max_tokens':
      return { value: `${text}\n[session ${childId} stopped early: ${turn.stopReason}]` }
    case 'cancelled':
    case 'closed':
    case 'refused':
    case undefined:
      return failed(
        'TOOL_EXECUTION_ERROR',
        `child session ${childId} ended without an answer (${turn?.stopReason ?? 'closed'}) ${text}`.trim(),
      )
  }
}

function failed(code: ToolErrorCode, message: string): CallEnd {
  return { error: new StelloError(code, message) }
}
