/** Carries out what a person said about a parked call. The first answer decides: a later one finds its question gone. */
import { StelloError } from '../../core/errors.ts'
import type { Answer, ToolOutcome } from '../../protocol/steps.ts'
import { getMessage } from '../../store/messages.ts'
import { readParked } from '../../store/pending.ts'
import { mustBeCurrent } from '../../store/runs.ts'
import type { Attempt } from './attempt.ts'
import type { Deps } from '../deps.ts'
import { countCall } from '../metrics.ts'
import { endStep, type Ending } from './end-step.ts'
import type { CallAtHand } from '../tool/tool-call.ts'
import { finish, type CallEnd } from '../tool/finish.ts'
import { closing } from '../tool/unknown-outcome.ts'

/** @returns `due` when nothing is open under that id: the claim rules then say what becomes of the call */
export async function settleAnswered(
  deps: Deps,
  { run }: Attempt,
  at: CallAtHand,
  answer: Answer,
): Promise<ToolOutcome> {
  const gen = await mustBeCurrent(deps.db, run)
  const step = { sessionId: run.sessionId, gen, key: at.input.key }
  const { lease, item, outcome } = (await readParked(deps.db, step)) ?? {}
  if (outcome !== undefined) return outcome as ToolOutcome
  if (lease === undefined || item?.id !== answer.id) return { kind: 'due', gen }
  const ending = await carriedOut(deps, at, gen, answer)
  return endStep(deps, { ...step, lease }, closing(ending, item, answer.decision), {
    settled: (settled) => countCall(deps.metrics, at, settled, 'untimed'),
  })
}

async function carriedOut(deps: Deps, at: CallAtHand, gen: number, answer: Answer): Promise<Ending<ToolOutcome>> {
  const { input, call, chain } = at
  const settle = (end: CallEnd): Ending<ToolOutcome> => finish({ input, claim: { gen }, chain, durationMs: 0, end })
  switch (answer.decision) {
    case 'done': {
      const text = await resultOf(deps, input.sessionId, answer)
      return settle({ value: text ?? `"${call.name}" took effect: a person has said so. Its result is not known.` })
    }
    case 'not_done': {
      const text = `"${call.name}" did not take effect: a person has said so. It was not run again.`
      return settle({ error: new StelloError('TOOL_EXECUTION_ERROR', text) })
    }
    case 'retry':
      return { kind: 'reopen', result: { kind: 'due', gen }, writes: {} }
  }
}

async function resultOf(deps: Deps, sessionId: string, { result, resultId }: Answer): Promise<string | undefined> {
  return resultId === undefined ? result : getMessage(deps.db, sessionId, resultId)
}
