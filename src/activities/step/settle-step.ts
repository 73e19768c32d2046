/** Ends a step whose activity ended without an outcome, or that waits for a child or a person: the ledger decides, this proposes. */
import { StelloError, type ToolErrorCode } from '../../core/errors.ts'
import { toPause } from '../../core/pause.ts'
import { openingKey } from '../../protocol/keys.ts'
import type {
  CallModelInput,
  CallToolInput,
  ModelOutcome,
  Proposal,
  SettleStepInput,
  ToolOutcome,
} from '../../protocol/steps.ts'
import { readRejection } from '../../store/event-log.ts'
import { forceStep, proposeOutcome } from '../../store/settle.ts'
import { readTurn, readTurnByNumber, type TurnRow } from '../../store/turns.ts'
import { currentAttempt, type Attempt } from './attempt.ts'
import { awaitHolder } from './await-holder.ts'
import type { Deps } from '../deps.ts'
import { countCall } from '../metrics.ts'
import { endLost } from '../tool/lost-call.ts'
import { endStep } from './end-step.ts'
import { settleAnswered } from './settle-answered.ts'
import { readCallAtHand } from '../tool/tool-call.ts'
import { finish, type CallEnd } from '../tool/finish.ts'

/** Every generation of the child. */
const NEWEST = 2 ** 31 - 1

export async function settleStep(deps: Deps, input: SettleStepInput): Promise<ModelOutcome | ToolOutcome> {
  const attempt = currentAttempt(deps, input.step)
  return input.of === 'model'
    ? settleModel(deps, attempt, input.step, input.proposed)
    : settleCall(deps, attempt, input)
}

/** A model call that ran into its backstop is no answer: the session pauses, and resume asks again. */
async function settleModel(
  deps: Deps,
  attempt: Attempt,
  step: CallModelInput,
  proposed: Proposal,
): Promise<ModelOutcome> {
  const { run } = attempt
  const proposing = { run, key: step.key, kind: 'model', name: 'model' }
  if (proposed.kind === 'cancelled') {
    // A turn that never asked its model has not heard that its message was answered, or refused, before.
    if (step.opening && (await isAnswered(deps, step))) return { kind: 'duplicate', gen: run.gen }
    return proposeOutcome<ModelOutcome>(deps.db, proposing, (gen) => ({
      outcome: { kind: 'cancelled', gen },
      writes: {},
    }))
  }
  await awaitHolder(deps, attempt, step.key)
  const forced = await forceStep(deps.db, proposing)
  if ('outcome' in forced) return forced.outcome as ModelOutcome
  return {
    kind: 'failed',
    pause: toPause(new StelloError('MODEL_UNAVAILABLE', 'the model gave no answer, and its worker did not say why')),
  }
}

async function isAnswered({ db }: Deps, { sessionId, messageId, gen, turn }: CallModelInput): Promise<boolean> {
  const first = await readTurn(db, sessionId, messageId, gen)
  if (first) return first.turn !== turn
  return (await readRejection(db, sessionId, messageId)) !== undefined
}

async function settleCall(
  deps: Deps,
  attempt: Attempt,
  { step, proposed, opening }: Extract<SettleStepInput, { of: 'tool' }>,
): Promise<ToolOutcome> {
  const at = await readCallAtHand(deps, step)
  if (proposed.kind === 'answered') return settleAnswered(deps, attempt, at, proposed.answer)
  const end = await endOf(deps, step, proposed)
  const lost = proposed.kind === 'cancelled' || proposed.kind === 'timedOut' ? proposed.kind : undefined
  const proposing = {
    run: attempt.run,
    key: opening ? openingKey(step.key) : step.key,
    kind: opening ? 'child' : 'tool',
    name: step.call.name,
    ...(lost && { holder: { owner: deps.bootId, token: attempt.token } }),
  }
  if (lost === 'timedOut') await awaitHolder(deps, attempt, proposing.key)
  const forced = await forceStep(deps.db, proposing)
  if ('outcome' in forced) return forced.outcome as ToolOutcome
  const found = lost && (await endLost(deps, attempt, at, forced, lost))
  // A child is worked with all the while; what became of a lost call, and when, nobody knows.
  const durationMs = lost ? 0 : forced.ageMs
  return endStep(deps, forced, found ?? finish({ input: step, claim: forced, chain: at.chain, durationMs, end }), {
    settled: (outcome) => countCall(deps.metrics, at, outcome, 'untimed'),
  })
}

async function endOf(
  deps: Deps,
  step: CallToolInput,
  proposed: Exclude<Proposal, { kind: 'answered' }>,
): Promise<CallEnd> {
  switch (proposed.kind) {
    case 'cancelled':
      return failed('TOOL_CANCELLED', `"${step.call.name}" was cancelled; if it had begun, it may have taken effect`)
    case 'timedOut':
      return failed('TOOL_TIMEOUT', `"${step.call.name}" did not end in time, and its worker did not say why`)
    case 'childEnded':
      return answerOf(
        proposed.childId,
        await readTurnByNumber(deps.db, proposed.childId, proposed.childGen, proposed.childTurn),
      )
    case 'childLost': {
      const answered = await readTurnByNumber(deps.db, proposed.childId, NEWEST, 1)
      if (answered?.status === 'ended') return answerOf(proposed.childId, answered)
      return failed('TOOL_EXECUTION_ERROR', `child session ${proposed.childId} ${proposed.message}`)
    }
  }
}

/** What the model reads of a child: its answer, and a word if it did not end by itself. */
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
