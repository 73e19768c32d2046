/** One turn: from a user message, through rounds of calls, to the answer. */
import { brief } from '../core/message.ts'
import { modelKey } from '../protocol/keys.ts'
import { tellParent } from './await-agents.ts'
import { announce, announcePause, foundPaused } from './outbox.ts'
import type { Command, Step } from './commands.ts'
import type { Input } from './inputs.ts'
import { messageRejected } from './queue.ts'
import { addUsage } from './stats.ts'
import { stepOf, type Call, type Closing, type SessionState, type Turn } from './state.ts'
import type { CallModelInput, LostHow, ModelAnswer, StopReason, WeatherReport } from '../protocol/steps.ts'

/** Longest text about the weather, in bytes. */
const WEATHER_SHOWN = 200
const SINCE_SHOWN = 40

/** A session closes by itself. */
export const CLOSING: Closing = { cascade: false, announced: false }

type Of<T extends Input['type']> = Extract<Input, { type: T }>

/** Begins the turn of the first waiting message; the message becomes the next record. */
export function startTurn(state: SessionState): SessionState {
  const { cancelNext, ...known } = state
  const [first, ...queue] = state.queue
  if (!first || first.storing) return state
  const turn: Turn = {
    n: state.turns + 1,
    opening: first,
    round: 0,
    phase: 'model',
    running: false,
    base: state.seq,
    calls: [],
    ...(cancelNext && { stopping: 'cancelled' }),
  }
  return { ...known, queue, turns: turn.n, seq: state.seq + 1, turn }
}

/** The input of the model step the turn stands at. */
export function modelInput(state: SessionState, turn: Turn): CallModelInput {
  return {
    ...stepOf(state, turn, modelKey({ turn: turn.n, round: turn.round })),
    upTo: state.seq,
    ...(turn.round === 0 && { opening: turn.opening }),
    ...(turn.fit?.refusals && { refusals: turn.fit.refusals }),
    ...(turn.fit?.asIs && { asIs: true }),
    ...(state.leftOut !== undefined && { leftOut: state.leftOut }),
    last: turn.round >= state.limits.maxToolRounds,
  }
}

export function modelEnded(state: SessionState, input: Of<'modelEnded'>): Step {
  const asking = modelTurn(state, input)
  if (!asking) return [state, []]
  const turn = inFineWeather(asking)
  const { outcome } = input
  const rested: SessionState = { ...state, turn: { ...turn, running: false } }
  switch (outcome.kind) {
    case 'answered':
      return answered(rested, turn, outcome)
    case 'cancelled':
      return [
        { ...rested, turn: { ...turn, running: false, phase: 'ending', stopping: turn.stopping ?? 'cancelled' } },
        [],
      ]
    case 'duplicate': {
      const { turn: _dropped, ...rest } = state
      const { messageId } = turn.opening
      const before = closeAwaited({ ...rest, gen: outcome.gen, turns: turn.n - 1, seq: turn.base })
      const { reason } = outcome
      return reason === undefined ? [before, []] : messageRejected(before, reason, { preview: messageId, messageId })
    }
    case 'full': {
      const refusals = (turn.fit?.refusals ?? 0) + (outcome.refused ? 1 : 0)
      const fit = { refusals, standsFor: outcome.standsFor, due: true as const }
      return [{ ...rested, gen: outcome.gen, turn: { ...turn, running: false, fit } }, []]
    }
    case 'failed': {
      const { refused: _before, ...known } = turn
      const failed = {
        ...rested,
        turn: { ...known, running: false, ...(outcome.refused && { refused: true as const }) },
      }
      return turn.stopping ? [failed, []] : announcePause(failed, outcome.pause)
    }
    case 'notStarted':
      return outcome.closing ? closeRequested(rested, true) : foundPaused(rested)
  }
}

/** Only people read it: the call goes on by itself. A report of a call that has ended means nothing. */
export function weatherReported(state: SessionState, report: WeatherReport): Step {
  const turn = modelTurn(state, report)
  if (!turn) return [state, []]
  const { since } = report
  const weather = {
    provider: brief(report.provider, WEATHER_SHOWN),
    why: brief(report.why, WEATHER_SHOWN),
    since: brief(since, SINCE_SHOWN),
  }
  return [{ ...state, turn: { ...turn, weather } }, []]
}

export function inFineWeather({ weather: _over, ...turn }: Turn): Turn {
  return turn
}

/** The activity was cancelled or ran into its backstop. The ledger knows what really happened. */
export function modelLost(state: SessionState, input: Of<'modelLost'>): Step {
  const turn = modelTurn(state, input)
  if (!turn) return [state, []]
  return [state, [settleModel(state, turn, input.how)]]
}

/** Asks the ledger to end the model step as proposed, unless it has ended otherwise already. */
export function settleModel(state: SessionState, turn: Turn, proposed: LostHow): Command {
  return { type: 'settleModel', input: { step: modelInput(state, turn), proposed } }
}

/** Somebody asks to stop the turn. Before the first opening, it may be one that only the opening finds. */
export function cancelAsked(state: SessionState, { early }: Of<'cancelRequested'>): Step {
  const finds = early && opensFirst(state) && !state.turn && state.queue.length === 0
  return cancelRequested(finds ? { ...state, stopFound: state.stopFound ?? 'turn' } : state, 'cancelled')
}

/** If a message waits, its turn is about to begin, so a cancel means that turn. */
export function cancelRequested(state: SessionState, why: 'cancelled' | 'closed'): Step {
  if (!state.turn) {
    const { compactAsked: _asked, ...rest } = state
    const waits = why === 'cancelled' && state.queue.length > 0
    const stops: Command[] = state.compacting === undefined ? [] : [{ type: 'cancelSteps' }]
    return [closeAwaited(waits ? { ...rest, cancelNext: true } : rest), stops]
  }
  if (state.turn.stopping) return [state, []]
  return [{ ...state, turn: { ...state.turn, stopping: why } }, [{ type: 'cancelSteps' }]]
}

/**
 * Until the store knows of the close, a later request may still widen it to the forks. If the session cannot close yet,
 * a cascade is told to the store at once, so that nothing begins below it meanwhile. The close of a session that may
 * never have been opened is told at once, too: the opening may wait for hours for a parent, and ends when it finds this.
 */
export function closeRequested(state: SessionState, cascade: boolean): Step {
  const { closing } = state
  if (closing && (closing.announced || closing.cascade || !cascade)) return [state, []]
  const wider: SessionState = { ...state, closing: { cascade, announced: false } }
  const [next, commands] = closing ? [wider, []] : cancelRequested(wider, 'closed')
  const mark = closingMark(next, cascade)
  if (!mark) return [next, commands]
  const [told, telling] = announce(next, { closing: mark })
  return [told, [...telling, ...commands]]
}

function closingMark(state: SessionState, cascade: boolean): true | 'unopened' | undefined {
  if (cascade) return state.opened && !state.turn ? undefined : true
  return opensFirst(state) && !state.openFailed ? 'unopened' : undefined
}

/** Stops what the session does. If it does nothing, and no message waits, there is only the session itself to end. */
export function stopRequested(state: SessionState, { early }: Of<'stopRequested'>): Step {
  const { turn, queue, compacting, compactAsked, openFailed, stopFound } = state
  const busy = turn !== undefined || queue.length > 0 || compacting !== undefined || compactAsked === true
  if (busy) return cancelRequested(state, 'cancelled')
  const finds = early && opensFirst(state) && !openFailed && stopFound !== 'session'
  if (finds) return [{ ...state, stopFound: 'session' }, []]
  return closeRequested(state, false)
}

/**
 * The first run of a workflow waits for its opening. Only that knows whether the session was ever opened, and whether the workflow
 * before this one was lost in the middle of a turn.
 */
function opensFirst({ opened, turns }: SessionState): boolean {
  return !opened && turns === 0
}

/** The turn is over and its row is written. A `new_task` child reports its first turn and closes. */
export function finishTurn(
  state: SessionState,
  turn: Turn,
  { stopReason, text }: { stopReason: StopReason; text: string },
): Step {
  const { turn: _finished, tries: _over, ...rest } = state
  const totals = { ...state.totals, turns: state.totals.turns + 1 }
  const idle: SessionState = { ...rest, totals, lastAnswer: text, lastStop: stopReason }
  if (!state.awaited) return [idle, tellParent(state, turn.n, text)]
  const { awaited: _reported, ...reported } = idle
  return [{ ...reported, closing: state.closing ?? CLOSING }, [report(state, state.awaited, turn.n)]]
}

/** A cancelled turn that its provider refuses would make it refuse every later turn too. */
export function isLeftOut({ refused, stopping }: Turn): boolean {
  return refused === true && stopping === 'cancelled'
}

/** The call whose result the turn ends with. */
export function completingCall(turn: Turn): Call | undefined {
  return turn.stopping === 'completed' ? turn.calls.find((call) => call.result?.endsTurn) : undefined
}

/** Tells the parent that this session has answered. Turn 0 means that it closed without an answer. */
export function report(state: SessionState, to: { parentId: string; callKey: string }, turn: number): Command {
  const report = { childId: state.sessionId, childGen: state.gen, childTurn: turn, callKey: to.callKey }
  return { type: 'reportToParent', parentId: to.parentId, report }
}

function answered(state: SessionState, turn: Turn, answer: ModelAnswer): Step {
  const { tries: _over, ...gone } = state
  const known = addUsage({ ...gone, gen: answer.gen, seq: answer.seq + answer.calls.length }, answer.usage)
  const { stopReason, text } = answer
  if (stopReason) return finishTurn({ ...known, seq: answer.seq }, turn, { stopReason, text })
  const calls = answer.calls.map((call, index): Call => ({
    ...call,
    index,
    seq: answer.seq + 1 + index,
    status: 'due',
  }))
  const { refused: _before, ...asked } = turn
  return [{ ...known, turn: { ...asked, phase: 'tools', running: false, base: answer.seq, calls } }, []]
}

/** A `new_task` child that loses its first turn has nothing left to do: it closes, and tells its parent. */
function closeAwaited(state: SessionState): SessionState {
  return state.awaited ? { ...state, closing: state.closing ?? CLOSING } : state
}

function modelTurn(state: SessionState, at: { turn: number; round: number }): Turn | undefined {
  const { turn } = state
  return turn?.phase === 'model' && turn.running && turn.n === at.turn && turn.round === at.round ? turn : undefined
}
