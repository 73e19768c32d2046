/** One call of a round: its key, its input, its place in the state, and the question to the ledger how it ended. */
import { callKey } from '../protocol/keys.ts'
import type { Step } from './commands.ts'
import { stepOf, type Call, type SessionState, type Turn } from './state.ts'
import type { CallNames, CallToolInput, Proposal } from '../protocol/steps.ts'

/** A call, and the turn that it belongs to. */
export interface TurnCall {
  turn: Turn
  call: Call
}

export function keyOf({ n, round }: Turn, { index }: Call): string {
  return callKey({ turn: n, round, index })
}

export function callInput(state: SessionState, { turn, call }: TurnCall): CallToolInput {
  return {
    ...stepOf(state, turn, keyOf(turn, call)),
    index: call.index,
    call: namesOf(call),
    seq: call.seq,
    ...(state.workspace !== undefined && { workspace: state.workspace }),
    ...(call.awaits && { waited: call.awaits }),
  }
}

export function namesOf({ id, name, title }: CallNames): CallNames {
  return { id, name, ...(title !== undefined && { title }) }
}

/** Asks the ledger to end the call as proposed, unless it has ended otherwise already. */
export function settle(state: SessionState, which: TurnCall, proposed: Proposal): Step {
  const { turn, call } = which
  const opening = call.route === 'task' && !call.child && { opening: true as const }
  const input = { step: callInput(state, which), proposed, ...opening }
  const command = { type: 'settleTool' as const, input, timeoutMs: call.timeoutMs }
  return [replaceCall(state, turn, { ...call, status: 'settling' }), [command]]
}

export function findCall(
  state: SessionState,
  at: { turn: number; round: number; index: number },
): TurnCall | undefined {
  const { turn } = state
  if (turn?.phase !== 'tools' || turn.n !== at.turn || turn.round !== at.round) return undefined
  const call = turn.calls[at.index]
  return call && { turn, call }
}

/** Whether its activity, or the question to the ledger how it ended, is still unanswered. */
export function isUnderWay(call: Call): boolean {
  return call.status === 'running' || call.status === 'settling'
}

export function replaceCall(state: SessionState, turn: Turn, call: Call): SessionState {
  const calls = turn.calls.map((other) => (other.index === call.index ? call : other))
  return { ...state, turn: { ...turn, calls } }
}
