/**
 * Calls that wait for a person. Every reason to wait uses the same kind of item, the same wait and the same way to
 * answer. An answer is kept with its call until the ledger has taken it, so it is not lost when the store fails or a
 * worker is slow. The time for an answer may end: an answer and the end are taken in the order in which they come, so
 * exactly one of them counts.
 */
import { preview } from '../core/message.ts'
import { ID_LIMIT, sizeOfAnswer, wrongWord, type Answer } from '../protocol/read-answer.ts'
import type { WaitingRef } from '../protocol/pending.ts'
import { readPendingId } from '../protocol/keys.ts'
import { tellOfQuestion } from './tell-people.ts'
import { refuse } from './outbox.ts'
import { isUnderWay, keyOf, replaceCall, settle, type TurnCall } from './call.ts'
import type { Command, Step } from './commands.ts'
import type { Input } from './inputs.ts'
import { ANSWERS_TEXT_LIMIT, type Call, type SessionState } from './state.ts'
import type { Waiting } from '../protocol/steps.ts'

type Of<T extends Input['type']> = Extract<Input, { type: T }>

const STOPPING = 'the turn is being stopped'

/** Why the session cannot take this answer now; undefined if it can. */
export function answerProblem(state: SessionState, answer: Answer): string | undefined {
  const { turn, call } = findAsked(state, answer.id) ?? {}
  if (!turn || !call) return `nothing with the id "${answer.id}" waits for an answer`
  if (call.expired) return `the time for an answer to "${answer.id}" is over`
  if (call.answer) return `"${answer.id}" has been answered already`
  if (turn.stopping) return STOPPING
  const kept = turn.calls.reduce((sum, one) => sum + sizeOfAnswer(one.answer ?? {}), 0)
  if (kept + sizeOfAnswer(answer) > ANSWERS_TEXT_LIMIT) return 'too many answers are on their way'
  return call.pending && wrongWord(call.pending.kind, answer)
}

/** The first answer wins. It may arrive before the news that its call waits. */
export function answered(state: SessionState, answer: Answer): Step {
  const problem = answerProblem(state, answer)
  if (problem !== undefined) return answerRejected(state, problem, { id: answer.id })
  const found = findAsked(state, answer.id)
  if (!found) return [state, []]
  const call = { ...found.call, answer }
  if (call.status !== 'waiting') return [replaceCall(state, found.turn, call), []]
  return settle(state, { turn: found.turn, call }, { kind: 'answered', answer })
}

/** An answer that changes nothing becomes an event that people see. */
export function answerRejected(state: SessionState, reason: string, what: { id: string } | { preview: string }): Step {
  return refuse(state, { type: 'answer.rejected', data: { ...what, reason } })
}

/**
 * The ledger has parked the call, so it waits. If its answer is here already, the call goes on, unless the ledger has
 * refused that answer. If the time for answers is over, the call goes on without one.
 */
export function asked(state: SessionState, { turn, call }: TurnCall, { item, refused, leftMs }: Waiting): Step {
  const { answer, ...rest } = call
  const { expired, ...asks } = rest
  const over = expired && rest.pending?.id === item.id
  const waiting: Call = { ...asks, status: 'waiting', pending: item, ...(over && { expired }) }
  if (!answer) return wait(state, { turn, call: waiting }, call)
  const unfit = answer.id === item.id ? (refused ?? wrongWord(item.kind, answer)) : neverAsked(answer)
  const problem = turn.stopping ? STOPPING : unfit
  if (problem === undefined) {
    const [taken, commands] = settle(state, { turn, call: { ...waiting, answer } }, { kind: 'answered', answer })
    // The ledger may refuse the answer, and the question then waits on. A ledger of an older version names no time.
    const ends = leftMs !== undefined && call.pending?.id !== item.id ? endOfAsking({ turn, call: waiting }) : []
    return [taken, [...ends, ...commands]]
  }
  const [next, commands] = wait(state, { turn, call: waiting }, call)
  const [told, more] = answerRejected(next, problem, { id: answer.id })
  return [told, [...commands, ...more]]
}

/** @param before the call as it was: its question may be known already, and the end of its time promised */
function wait(state: SessionState, which: TurnCall, before: Call): Step {
  const { turn, call } = which
  const { pending, expired } = call
  if (pending && expired && !turn.stopping) return settle(state, which, { kind: 'expired', id: pending.id })
  if (before.pending?.id === pending?.id) {
    // What was told of the question, or is being told, is not told again.
    return [replaceCall(state, turn, { ...call, ...(before.pending && { pending: before.pending }) }), []]
  }
  // The stop takes the question with it: nobody shall be asked.
  if (turn.stopping) return [replaceCall(state, turn, call), []]
  return [replaceCall(state, turn, call), [...endOfAsking(which), ...tellOfQuestion(state, which)]]
}

/** The time for an answer is over. An answer that came before counts, unless the ledger refuses it. */
export function askingOver(state: SessionState, { callKey, id }: Of<'askingOver'>): Step {
  const { turn, call } = findAsked(state, id) ?? {}
  if (!turn || !call || call.pending?.id !== id || keyOf(turn, call) !== callKey) return [state, []]
  if (turn.stopping || call.expired || isLeftBehind(state, { turn, call })) return [state, []]
  const over: Call = { ...call, expired: true }
  if (call.status !== 'waiting') return [replaceCall(state, turn, over), []]
  return settle(state, { turn, call: over }, { kind: 'expired', id })
}

/** The ends of the times for answers that the turn still has. A new run promises them anew. */
export function endsOfAsking({ turn }: SessionState): Command[] {
  return turn?.phase === 'tools' ? turn.calls.flatMap((call) => endOfAsking({ turn, call })) : []
}

function endOfAsking({ turn, call }: TurnCall): Command[] {
  const { id, expiresAt } = call.pending ?? {}
  if (id === undefined || expiresAt === undefined || call.expired || call.status === 'done') return []
  return [{ type: 'endAsking', callKey: keyOf(turn, call), id, at: expiresAt }]
}

/**
 * The call no longer waits. An answer is refused in public if the call never asked that question, or asked it before a
 * rewind.
 */
export function unasked(state: SessionState, { turn, call: before }: TurnCall): Step {
  const { pending, answer, expired: _over, ...call } = before
  const next = replaceCall(state, turn, call)
  if (!answer) return [next, []]
  const problem = !pending
    ? neverAsked(answer)
    : isLeftBehind(state, { turn, call: { ...call, pending } }) && leftBehind(answer)
  return problem ? answerRejected(next, problem, { id: answer.id }) : [next, []]
}

/** The call's question belongs to a generation that the store has left. Nobody can answer it any more. */
export function isLeftBehind({ gen }: SessionState, { turn, call }: TurnCall): boolean {
  if (!call.pending) return false
  const asked = readPendingId(call.pending.id)
  return asked?.key !== keyOf(turn, call) || asked.gen !== gen
}

/** The calls that wait for a person now. */
export function pendingCalls({ turn }: SessionState): { call: Call; item: WaitingRef }[] {
  return (turn?.calls ?? []).flatMap((call) =>
    call.pending && call.status === 'waiting' ? [{ call, item: call.pending }] : [],
  )
}

function findAsked({ turn }: SessionState, id: string): TurnCall | undefined {
  if (turn?.phase !== 'tools') return undefined
  const asked = readPendingId(id)
  const call = turn.calls.find((one) =>
    one.pending ? one.pending.id === id : isUnderWay(one) && keyOf(turn, one) === asked?.key,
  )
  return call && { turn, call }
}

function neverAsked({ id }: Answer): string {
  return `"${preview(id, ID_LIMIT)}" was never asked`
}

function leftBehind({ id }: Answer): string {
  return `"${preview(id, ID_LIMIT)}" was asked before the session was rewound; if it is still open, it is asked anew`
}
