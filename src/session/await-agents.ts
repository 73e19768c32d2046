/**
 * Agents: children that may be asked again. An agent tells its parent when it has ended a turn; a call that waits for it
 * then runs again and looks. Only the store knows what the agents do: the state keeps who waits, and until when.
 */
import { brief, preview } from '../core/message.ts'
import { agentNewsId } from '../protocol/keys.ts'
import type { AgentReport, Awaits } from '../protocol/steps.ts'
import { replaceCall, keyOf, type TurnCall } from './call.ts'
import type { Command, Step } from './commands.ts'
import type { Input } from './inputs.ts'
import { isKnown, messageReceived } from './queue.ts'
import type { Call, SessionState } from './state.ts'

/** Longest answer in the message to a parent, in bytes. */
const ANSWER_SHOWN = 2048

type Of<T extends Input['type']> = Extract<Input, { type: T }>

/** The call waits, unless something was told while it ran: then it looks again. */
export function awaitAgents(state: SessionState, { turn, call }: TurnCall, awaits: Awaits): Step {
  const { heard, awaits: before, ...rest } = call
  const same = before?.nth === awaits.nth && before.until === awaits.until
  const over = same && before.over
  const kept = { ...awaits, ...(over && { over }) }
  const next = replaceCall(state, turn, { ...rest, awaits: kept, status: heard || over ? 'due' : 'waiting' })
  return [next, same ? [] : ending({ turn, call: { ...rest, awaits } })]
}

/** The calls that wait for the agent look again. If none does, the parent may be told by a message of its own. */
export function agentReported(state: SessionState, report: AgentReport): Step {
  const { turn } = state
  const waits = (call: Call): boolean => agentsAwaitedBy(state, call)?.includes(report.childId) === true
  const told = turn?.phase === 'tools' ? turn.calls.filter((call) => waits(call) || call.status === 'running') : []
  const next = told.reduce((now, call) => (now.turn ? replaceCall(now, now.turn, wake(now, call)) : now), state)
  if (report.message === undefined || told.some(waits)) return [next, []]
  const messageId = agentNewsId(report)
  return isKnown(next, messageId) ? [next, []] : messageReceived(next, messageId, report.message)
}

export function waitOver(state: SessionState, { callKey, until }: Of<'waitOver'>): Step {
  const { turn } = state
  const call = turn?.phase === 'tools' ? turn.calls.find((one) => keyOf(turn, one) === callKey) : undefined
  if (!turn || !call?.awaits || call.awaits.until !== until || call.status === 'done') return [state, []]
  return [replaceCall(state, turn, wake(state, { ...call, awaits: { ...call.awaits, over: true } })), []]
}

/** The ends of the waits that the turn still has. A new run promises them anew. */
export function endsOfWaits({ turn }: SessionState): Command[] {
  return turn?.phase === 'tools' ? turn.calls.flatMap((call) => ending({ turn, call })) : []
}

/** The agents that calls wait for, and the calls. */
export function awaitedAgents(state: SessionState): { callKey: string; childId: string }[] {
  const { turn } = state
  if (turn?.phase !== 'tools') return []
  return turn.calls.flatMap((call) =>
    (agentsAwaitedBy(state, call) ?? []).map((childId) => ({ callKey: keyOf(turn, call), childId })),
  )
}

/** Nobody will hear of the agent any more, so the call that waits for it looks. */
export function agentVanished(state: SessionState, { callKey, childId }: Of<'childVanished'>): SessionState {
  const { turn } = state
  const call = turn?.calls.find((one) => keyOf(turn, one) === callKey)
  const waits = call && agentsAwaitedBy(state, call)?.includes(childId)
  return turn && call && waits ? replaceCall(state, turn, wake(state, call)) : state
}

/** Tells the parent of an agent that a turn has ended. @param turn 0: the agent was closed */
export function tellParent({ sessionId, gen, label, tells }: SessionState, turn: number, text: string): Command[] {
  if (!tells) return []
  const { parentId, notifies } = tells
  const said = text ? `:\n${preview(text, ANSWER_SHOWN)}` : '.'
  const message = `Agent "${brief(label, 120)}" (${sessionId}) has finished${said}`
  const report = { childId: sessionId, childGen: gen, childTurn: turn, ...(notifies && turn > 0 && { message }) }
  return [{ type: 'tellParent', parentId, report }]
}

/**
 * The workflow of an agent may have been lost after a turn had ended, and before its parent was told. A call that waits
 * looks again. A message that a parent without such a call gets may have been sent already, so it is not sent again.
 */
export function wakeParent({ tells, turns, ...state }: SessionState): Command[] {
  if (!tells || turns === 0) return []
  return tellParent({ ...state, turns, tells: { parentId: tells.parentId } }, turns, '')
}

/** The agents that the call waits for now. A call that has waited for agents may wait for a person since. */
function agentsAwaitedBy({ wakesAsking }: SessionState, { status, awaits, pending }: Call): string[] | undefined {
  return status === 'waiting' && (!pending || wakesAsking) ? awaits?.agents : undefined
}

function wake(state: SessionState, call: Call): Call {
  return agentsAwaitedBy(state, call) ? { ...call, status: 'due' } : { ...call, heard: true }
}

function ending({ turn, call }: TurnCall): Command[] {
  const { until, over } = call.awaits ?? {}
  if (until === undefined || over || call.status === 'done') return []
  return [{ type: 'endWait', callKey: keyOf(turn, call), until }]
}
