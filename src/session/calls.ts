/**
 * The calls of one round. Each runs, waits for a child or a person, or is settled. Each ends with exactly one result.
 */
import { brief, preview } from '../core/message.ts'
import { agentVanished, awaitAgents } from './await-agents.ts'
import { announcePause, foundPaused } from './outbox.ts'
import { findCall, isUnderWay, keyOf, replaceCall, settle, type TurnCall } from './call.ts'
import type { Command, Step } from './commands.ts'
import type { Input } from './inputs.ts'
import { asked, unasked } from './answers.ts'
import { FORKS_SHOWN, REPORTS_LIMIT, type Call, type SessionState } from './state.ts'
import { LABEL_SHOWN } from '../protocol/session-input.ts'
import { addToolResult } from './stats.ts'
import type { Awaits, CallResult, ChildReport, ChildStart, Proposal } from '../protocol/steps.ts'
import { closeRequested } from './turn.ts'

type Of<T extends Input['type']> = Extract<Input, { type: T }>

/** Ends a call that the turn no longer wants. If the call waits for a child, the child is told to stop too. */
export function cancelCall(state: SessionState, which: TurnCall): Step {
  const { call } = which
  const [next, commands] = settle(state, which, { kind: 'cancelled' })
  const stopped = [...(call.child ? [call.child.sessionId] : []), ...ownAgents(call)]
  return [next, [...commands, ...stopped.map(stopChild)]]
}

/** The agents that a call waits for and that nobody else wants. */
function ownAgents({ awaits }: Call): string[] {
  return awaits?.stops ? awaits.agents : []
}

/** A call that was looking at its own agents when the turn was stopped: they are told to stop too. */
function stopsOwn({ older }: SessionState, { turn, call }: TurnCall): Command[] {
  return turn.stopping && call.status === 'running' && !older ? ownAgents(call).map(stopChild) : []
}

export function toolEnded(state: SessionState, input: Of<'toolEnded'>): Step {
  const found = findCall(state, input)
  if (!found || !isUnderWay(found.call)) return [state, []]
  const { turn, call } = found
  const { outcome } = input
  switch (outcome.kind) {
    case 'settled': {
      const [next, commands] = settled({ ...state, gen: outcome.gen }, found, outcome)
      return [next, [...stopsOwn(state, found), ...commands]]
    }
    case 'childOpened': {
      const { tries: _over, ...known } = state
      const opened = showFork({ ...known, gen: outcome.gen }, outcome.child)
      if (outcome.result) {
        const [done, commands] = settled(opened, found, outcome.result)
        return [done, [startChild(found, outcome.child, { awaited: false }), ...commands]]
      }
      return awaitChild(opened, found, outcome.child)
    }
    case 'pending':
      return asked({ ...state, gen: outcome.gen }, found, outcome)
    case 'awaits':
      return awaits({ ...state, gen: outcome.gen }, found, outcome.awaits)
    case 'due':
      return unasked({ ...state, gen: outcome.gen }, { turn, call: { ...call, status: 'due' } })
    case 'failed': {
      const due = replaceCall(state, turn, { ...call, status: 'due' })
      return turn.stopping ? [due, []] : announcePause(due, outcome.pause)
    }
    case 'notStarted': {
      const due = replaceCall(state, turn, { ...call, status: 'due' })
      return outcome.closing ? closeRequested(due, true) : foundPaused(due)
    }
  }
}

/** The call waits for agents, so no person is asked any more. */
function awaits(state: SessionState, which: TurnCall, agents: Awaits): Step {
  if (state.wakesAsking) return awaitAgents(state, which, agents)
  const [next, commands] = unasked(state, which)
  const now = next.turn?.calls[which.call.index]
  if (!next.turn || !now) return [next, commands]
  const [waiting, more] = awaitAgents(next, { turn: next.turn, call: now }, agents)
  return [waiting, [...commands, ...more]]
}

/** The activity was cancelled or ran into its backstop. The ledger knows what really happened. */
export function toolLost(state: SessionState, input: Of<'toolLost'>): Step {
  const found = findCall(state, input)
  if (!found || !isUnderWay(found.call)) return [state, []]
  const [next, commands] = settle(state, found, { kind: input.how })
  return [next, [...stopsOwn(state, found), ...commands]]
}

/** A report is kept until its call is done: it may arrive before the call is known to wait, and settling may fail. */
export function childReported(state: SessionState, report: ChildReport): Step {
  const others = state.reports.filter((known) => known.callKey !== report.callKey || known.childId !== report.childId)
  const kept = { ...state, reports: [...others.slice(1 - REPORTS_LIMIT), report] }
  const found = findWaiting(state, report.callKey, report.childId)
  return found ? settle(kept, found, childEnded(report)) : [kept, []]
}

export function childVanished(state: SessionState, input: Of<'childVanished'>): Step {
  const found = findWaiting(state, input.callKey, input.childId)
  if (!found) return [agentVanished(state, input), []]
  const { childId, message } = input
  return settle(state, found, { kind: 'childLost', childId, message: preview(message) })
}

/** The children that the calls of this session wait for. */
export function awaitedChildren({ turn }: SessionState): { callKey: string; childId: string }[] {
  if (turn?.phase !== 'tools') return []
  return turn.calls.flatMap((call) =>
    call.status === 'waiting' && call.child ? [{ callKey: keyOf(turn, call), childId: call.child.sessionId }] : [],
  )
}

function awaitChild(state: SessionState, which: TurnCall, child: ChildStart): Step {
  const { turn, call } = which
  const { sessionId, config } = child
  const waiting: Call = { ...call, status: 'waiting', child: { sessionId, label: brief(config.label, LABEL_SHOWN) } }
  const start = startChild(which, child, { awaited: true })
  const early = state.reports.find((one) => one.callKey === keyOf(turn, call) && one.childId === sessionId)
  if (!early) return [replaceCall(state, turn, waiting), [start]]
  const [next, commands] = settle(state, { turn, call: waiting }, childEnded(early))
  return [next, [start, ...commands]]
}

function settled(state: SessionState, { turn, call }: TurnCall, result: CallResult): Step {
  const { child: _ended, awaits: _over, heard: _heard, ...known } = call
  const first = result.endsTurn && !turn.calls.some((other) => other.index < call.index && other.result?.endsTurn)
  const { error: _counted, workspace, ...rest } = result
  const kept = { ...rest, preview: first ? result.preview : '' }
  const others = first ? { ...turn, calls: turn.calls.map(withoutText) } : turn
  const [done, commands] = unasked(state, { turn: others, call: { ...known, status: 'done', result: kept } })
  const reports = done.reports.filter((report) => report.callKey !== keyOf(turn, call))
  // Calls of one round may come in with different ones, in any order.
  const latest = workspace === undefined ? undefined : { workspace: Math.max(workspace, done.workspace ?? 0) }
  return [addToolResult({ ...done, reports, ...latest }, call.name, result), commands]
}

/** The text of one call ends a turn: the first in call order. */
function withoutText(call: Call): Call {
  return call.result?.preview ? { ...call, result: { ...call.result, preview: '' } } : call
}

function findWaiting(state: SessionState, key: string, childId: string): TurnCall | undefined {
  const { turn } = state
  if (turn?.phase !== 'tools') return undefined
  const call = turn.calls.find((one) => one.status === 'waiting' && keyOf(turn, one) === key)
  return call?.child?.sessionId === childId ? { turn, call } : undefined
}

function startChild({ turn, call }: TurnCall, child: ChildStart, { awaited }: { awaited: boolean }): Command {
  return { type: 'startChild', callKey: keyOf(turn, call), child, awaited }
}

function stopChild(childId: string): Command {
  return { type: 'cancelChild', childId }
}

function childEnded(report: ChildReport): Proposal {
  return { kind: 'childEnded', childId: report.childId, childGen: report.childGen, childTurn: report.childTurn }
}

function showFork(state: SessionState, child: ChildStart): SessionState {
  const fork = { id: child.sessionId, label: brief(child.config.label, LABEL_SHOWN) }
  const others = state.forks.filter((known) => known.id !== fork.id)
  return { ...state, forks: [...others.slice(1 - FORKS_SHOWN), fork] }
}
