/** Carries out a person's answer about a parked call. The first answer decides; a later one finds no question. */
import { StelloError } from '../../core/errors.ts'
import type { ToolOutcome } from '../../protocol/steps.ts'
import { wordOf, type Answer, type PendingItem } from '../../protocol/pending.ts'
import { getMessage } from '../../store/message-bodies.ts'
import { readParked } from '../../store/parked.ts'
import { mustBeCurrent } from '../../store/runs.ts'
import type { Attempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'
import { countCall } from '../metrics.ts'
import { endStep, waitsFor, type Ending } from '../step/end-step.ts'
import type { CallAtHand } from './tool-call.ts'
import { finish, type CallEnd } from './finish.ts'
import { closing } from './ask-person.ts'

/** @returns `due` when no question with that id is open; the claim then decides what happens to the call */
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
  const ending = await carriedOut(deps, at, { gen, item, answer })
  if (!ending) return waitsFor(item, gen)
  return endStep(deps, { ...step, lease }, closing(ending, item, answer.decision), {
    settled: (settled) => countCall(deps.metrics, at, settled, 'untimed'),
  })
}

/** @returns undefined when the answer does not fit the kind of the question; the question then stays open */
async function carriedOut(
  deps: Deps,
  { input, call, chain }: CallAtHand,
  { gen, item, answer }: { gen: number; item: PendingItem; answer: Answer },
): Promise<Ending<ToolOutcome> | undefined> {
  const { kind } = item
  const { decision, text, textId } = answer
  const leads = wordOf(kind, decision)?.leads
  const said = textId === undefined ? text : await getMessage(deps.db, input.sessionId, textId)
  const settle = (end: CallEnd): Ending<ToolOutcome> => finish({ input, claim: { gen }, chain, durationMs: 0, end })
  switch (leads?.to) {
    case 'result':
      return settle({ value: said ?? leads.says(call.name) })
    case 'error':
      return settle({ error: new StelloError(leads.code, leads.says(call.name, said)) })
    case 'run':
      return {
        kind: 'reopen',
        result: { kind: 'due', gen },
        writes: {},
        ...(leads.kept && { decided: { kind, decision } }),
      }
    case undefined:
      return undefined
  }
}
