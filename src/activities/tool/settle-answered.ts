/**
 * Carries out a person's answer about a parked call, or the default answer when nobody has answered in time. The first one
 * decides; a later one finds no question.
 */
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import { brief, preview, type ToolCall } from '../../core/message.ts'
import { OutOfTime, withinTime } from '../../models/actions/within-time.ts'
import type { NewEvent } from '../../protocol/events.ts'
import { fitAnswer } from '../../tool/fit-answer.ts'
import type { Proposal, ToolOutcome } from '../../protocol/steps.ts'
import { PENDING, wordOf, type PendingItem } from '../../protocol/pending.ts'
import { wrongWord, type Answer, type AnswerGiven, type Decided } from '../../protocol/read-answer.ts'
import { getMessage } from '../../store/transcript/message-bodies.ts'
import { readParked } from '../../store/ledger/parked.ts'
import { mustBeCurrent } from '../../store/ledger/runs.ts'
import type { Deps } from '../deps.ts'
import { countCall } from '../metrics.ts'
import { endStep, waitingOutcome, withEvents, type Ending } from '../step/end-step.ts'
import type { CallAtHand, CallAttempt } from './call-at-hand.ts'
import { finish, type CallEnd } from './finish.ts'
import { closing } from './ask-person.ts'
import { decidedEvent, rulePlaceOf } from './permit-call.ts'
import { releaseCovered, rememberRules } from './remember-rules.ts'
import { parseArguments } from './parse-arguments.ts'

type By = 'person' | 'expired'

/** Longest reason that the workflow is told, in bytes. */
const REFUSED_SHOWN = 500
/** The schema of a form may hold patterns that never end on some text. */
const CHECK_MS = 5000

/** The question whose time is over. */
type Expired = Extract<Proposal, { kind: 'expired' }>

interface Answering {
  /** The answer, or that nobody has answered. */
  said: Answer | Expired
  /** Key of the step that waits: the call, or the opening of its child. Unset: the call. */
  key?: string
}

/**
 * @returns `due` when no question with that id is open; the claim then decides what happens to the call
 */
export async function settleAnswered(
  deps: Deps,
  { attempt: { run }, at }: CallAttempt,
  { said, key = at.input.key }: Answering,
): Promise<ToolOutcome> {
  const gen = await mustBeCurrent(deps.db, run)
  const step = { sessionId: run.sessionId, gen, key }
  const { lease, item, decided, outcome } = (await readParked(deps.db, step)) ?? {}
  if (outcome !== undefined) return outcome as ToolOutcome
  if (lease === undefined || item?.id !== said.id) return { kind: 'due', gen }
  const by = 'decision' in said ? 'person' : 'expired'
  const answer = 'decision' in said ? said : answerOf(item)
  if (!answer) return waitingOutcome(deps, item, gen)
  const ending = await carriedOut(deps, at, { gen, item, answer, by, ...(decided && { decided }) })
  if (typeof ending === 'string')
    return { ...(await waitingOutcome(deps, item, gen)), refused: brief(ending, REFUSED_SHOWN) }
  const closed = closing(ending, item, { ...answer, by, args: argsOf(ending, item) })
  const told = PENDING[item.kind].permits ? [decidedBy(at, { item, answer, by })] : []
  // The rules are about the arguments that were shown, not about other ones.
  const remember = argsOf(ending, item) ? undefined : answer.remember
  const reach = remember && { ...rulePlaceOf(run.sessionId, at.facts), scope: remember }
  if (reach) await rememberRules(deps, reach, item)
  const held = { ...step, lease }
  const result = await endStep(deps, held, {
    ending: withEvents(closed, ...told),
    settled: (settled) => countCall(deps.metrics, at, { outcome: settled, untimed: true }),
  })
  if (reach) await releaseCovered(deps, reach, item)
  return result
}

/** The answer when nobody has answered. It permits a call only if the agent says so. */
function answerOf({ id, kind, otherwise }: PendingItem): Answer | undefined {
  if (otherwise) return { id, ...otherwise }
  const decision = PENDING[kind].otherwise
  return decision && { id, decision }
}

/** The arguments with which a person has permitted the call. */
function argsOf(ending: Ending<ToolOutcome>, { kind }: PendingItem): Decided['args'] {
  return PENDING[kind].permits && ending.kind === 'reopen' ? ending.decided?.args : undefined
}

/** @returns a string says why the answer does not fit the question, which then stays open */
async function carriedOut(
  deps: Deps,
  at: CallAtHand,
  { gen, item, answer, by, decided }: { gen: number; item: PendingItem; answer: Answer; by: By; decided?: Decided },
): Promise<Ending<ToolOutcome> | string> {
  const { input, call, chain } = at
  const leads = wordOf(item.kind, answer.decision)?.leads
  if (!leads) return wrongWord(item.kind, answer) ?? ''
  const { textId, text } = answer
  const said = textId === undefined ? text : await getMessage(deps.db, input.sessionId, textId)
  const settle = (end: CallEnd): Ending<ToolOutcome> => finish({ input, claim: { gen }, chain, durationMs: 0, end })
  const reopen = (kept: Decided = {}): Ending<ToolOutcome> => ({
    kind: 'reopen',
    result: { kind: 'due', gen },
    writes: {},
    decided: { ...decided, ...kept },
  })
  const nobody = by === 'expired' ? PENDING[item.kind].expired?.(call.name) : undefined
  switch (leads.to) {
    case 'result':
      return settle({ value: said ?? leads.says(call.name) })
    case 'error':
      return settle({ error: new StelloError(leads.code, nobody ?? leads.says(call.name, said)) })
    case 'run': {
      if (leads.keeps === undefined) return reopen()
      if (leads.keeps === 'permission') {
        const args = await editedArgs(deps, at, answer)
        return typeof args === 'string'
          ? args
          : reopen({ approved: true, ...(args ? { args } : item.permit && { shown: item.permit.hash }) })
      }
      const given = by === 'person' ? toGiven(item, answer, said) : givenByDefault(item, answer)
      return typeof given === 'string' ? given : reopen({ answers: [...(decided?.answers ?? []), given] })
    }
  }
}

/**
 * The arguments that a person has put in the place of the model's. They are checked like the model's.
 *
 * @returns undefined when the model's stay; a string says why the call cannot run with them
 */
async function editedArgs(
  deps: Deps,
  { input, call, tools }: CallAtHand,
  { args, argsId }: Answer,
): Promise<Decided['args'] | string> {
  if (args === undefined && argsId === undefined) return undefined
  const found = tools.find(call.name)
  if (!found || !('tool' in found)) return `the arguments of "${call.name}" cannot be changed`
  const text = argsId === undefined ? JSON.stringify(args) : await getMessage(deps.db, input.sessionId, argsId)
  if (text === undefined) return `no args are stored under "${argsId}"`
  const edited = { ...call, arguments: text }
  const parsed = parseArguments(edited, found.tool.check)
  return parsed.ok ? argumentsOf(edited) : `the arguments do not fit:\n${parsed.problem}`
}

function argumentsOf({ arguments: text }: ToolCall): Decided['args'] {
  const args: unknown = JSON.parse(text)
  return isObject(args) ? args : undefined
}

/** @returns a string says why the answer does not fit */
function toGiven({ form }: PendingItem, { decision, values }: Answer, text = ''): AnswerGiven | string {
  const said = { text, ...(values && { values }), ...(decision === 'decline' && { declined: true as const }) }
  try {
    const fitted = withinTime(CHECK_MS, () => fitAnswer(form ?? {}, said))
    return fitted.ok ? { to: form?.hash ?? '', ...fitted.value } : fitted.problem
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error
    return `the values could not be checked within ${CHECK_MS / 1000} s`
  }
}

/** The default was checked when the question was asked. If it cannot be checked now, the question counts as declined. */
function givenByDefault(item: PendingItem, answer: Answer): AnswerGiven {
  const given = toGiven(item, answer, answer.text)
  if (typeof given !== 'string') return { ...given, expired: true }
  return { to: item.form?.hash ?? '', text: given, declined: true, expired: true }
}

/** The event that says who has permitted the call or denied it. */
function decidedBy(
  { input }: CallAtHand,
  { item: { id, permit }, answer: { decision, text }, by }: { item: PendingItem; answer: Answer; by: By },
): NewEvent {
  return decidedEvent(input, [id], {
    decision: decision === 'approve' ? 'allow' : 'deny',
    by,
    ...(text !== undefined && { why: preview(text) }),
    touches: permit?.touches ?? [],
  })
}
