/**
 * Begins what is due. This is the only place that begins model calls, tool calls and turns, so it is the only place
 * that must stop while the session is paused.
 */
import { announce, announceClose, announcePause } from './outbox.ts'
import { callInput, replaceCall, type TurnCall } from './call.ts'
import { cancelCall } from './calls.ts'
import type { Step } from './commands.ts'
import { startCompaction } from './compaction.ts'
import { countTimeouts } from './count-timeouts.ts'
import { isLeftBehind } from './answers.ts'
import { PARALLEL_CALLS, type Call, type SessionState, type Turn } from './state.ts'
import { completingCall, isLeftOut, modelInput, settleModel, startTurn } from './turn.ts'

export function advance(state: SessionState): Step {
  if (state.closed) return [state, []]
  if (!state.opened) return state.openFailed && !state.turn ? close(state) : [state, []]
  if (!state.turn) return betweenTurns(state)
  switch (state.turn.phase) {
    case 'model':
      return modelPhase(state, state.turn)
    case 'tools':
      return toolsPhase(state, state.turn)
    case 'ending':
      return endingPhase(state, state.turn)
  }
}

/** Nothing new starts while this holds. */
function held(state: SessionState): boolean {
  return state.pause !== undefined || state.resuming !== undefined || state.resting === true
}

/** A cancelled turn begins nothing, so a pause need not stop it. */
function endsAtOnce({ cancelNext, resting, pause }: SessionState): boolean {
  return cancelNext === true && resting !== true && pause?.reason !== 'store_error'
}

function betweenTurns(state: SessionState): Step {
  if (state.compacting !== undefined) return [state, []]
  if (state.closing) return close(state)
  if (held(state) && !endsAtOnce(state)) return [state, []]
  if (state.compactAsked && !held(state)) return startCompaction(state)
  const started = startTurn(state)
  return started.turn ? advance(started) : [state, []]
}

function close(state: SessionState): Step {
  if (!state.closing || state.closing.announced) return [state, []]
  const { cascade } = state.closing
  const messages = state.queue.map(({ messageId, text }) => ({ messageId, ...(text !== undefined && { text }) }))
  return announceClose({ ...state, closing: { cascade, announced: true } }, { messages, cascade })
}

function modelPhase(state: SessionState, turn: Turn): Step {
  if (turn.running) return [state, []]
  if (turn.stopping) return stopModel(state, turn)
  if (held(state)) return [state, []]
  if (turn.fit?.due) return startCompaction({ ...state, turn: { ...turn, running: true } })
  return [{ ...state, turn: { ...turn, running: true } }, [{ type: 'callModel', input: modelInput(state, turn) }]]
}

/**
 * The step may have been answered although the workflow does not know it. The ledger says so, or makes sure that it
 * never is.
 */
function stopModel(state: SessionState, turn: Turn): Step {
  if (state.pause?.reason === 'store_error') return [state, []]
  return [{ ...state, turn: { ...turn, running: true } }, [settleModel(state, turn, 'cancelled')]]
}

function toolsPhase(state: SessionState, turn: Turn): Step {
  if (turn.calls.every((call) => call.status === 'done')) return roundEnded(state, turn)
  if (turn.stopping) {
    if (state.pause?.reason === 'store_error') return [state, []]
    return each(
      state,
      turn.calls.filter((call) => call.status === 'due' || call.status === 'waiting'),
      cancelCall,
    )
  }
  if (held(state)) return [state, []]
  const running = turn.calls.filter((call) => call.status === 'running').length
  const first = turn.calls.find((call) => call.ordered && call.status !== 'done')
  const isDue = (call: Call): boolean =>
    (call.status === 'due' && (!call.ordered || call === first)) ||
    (call.status === 'waiting' && isLeftBehind(state, { turn, call }))
  const due = turn.calls.filter(isDue).slice(0, Math.max(0, PARALLEL_CALLS - running))
  return each(state, due, startCall)
}

function startCall(state: SessionState, which: TurnCall): Step {
  const { turn, call } = which
  const { route, preview, timeoutMs } = call
  const { pending, expired, heard: _before, ...rest } = call
  return [
    replaceCall(state, turn, {
      ...rest,
      ...(pending && !isLeftBehind(state, which) && { pending, ...(expired && { expired }) }),
      status: 'running',
    }),
    [{ type: 'callTool', input: callInput(state, which), route, preview, timeoutMs }],
  ]
}

/** All results are in: count time-outs, then the model reads the results, or the turn ends. */
function roundEnded(state: SessionState, turn: Turn): Step {
  const { timeouts, exceeded } = countTimeouts(state.timeouts, turn.calls, state.limits.timeoutsBeforePause)
  const counted: SessionState = { ...state, timeouts, turn: afterRound(state, turn) }
  if (!exceeded) return advance(counted)
  const [paused, told] = announcePause(counted, {
    reason: 'tool_timeouts',
    message: `tool "${exceeded.tool}" timed out ${exceeded.count} times in a row`,
    hint: 'look at what the tool waits for, then resume',
  })
  const [next, due] = advance(paused)
  return [next, [...told, ...due]]
}

function afterRound(state: SessionState, turn: Turn): Turn {
  if (turn.stopping || turn.calls.some((call) => call.result?.endsTurn)) {
    return { ...turn, phase: 'ending', stopping: turn.stopping ?? 'completed' }
  }
  const { fit, ...rest } = turn
  const refusals = fit?.refusals ?? 0
  return {
    ...rest,
    phase: 'model',
    round: turn.round + 1,
    base: state.seq,
    calls: [],
    ...(refusals > 0 && { fit: { refusals } }),
  }
}

function endingPhase(state: SessionState, turn: Turn): Step {
  if (turn.running) return [state, []]
  const completing = completingCall(turn)
  return announce(
    { ...state, turn: { ...turn, running: true } },
    {
      tag: 'turnEnd',
      endTurn: {
        stopReason: turn.stopping ?? 'cancelled',
        rounds: turn.round,
        ...(completing && { textFrom: completing.seq }),
        ...(isLeftOut(turn) && { leftOut: state.seq }),
        ...(!answeredOnce(state, turn) && { opening: { ...turn.opening, seq: state.seq } }),
      },
    },
  )
}

/** Until then, the record of the message is the only one that the turn has numbered. */
function answeredOnce(state: SessionState, turn: Turn): boolean {
  return turn.round > 0 || turn.calls.length > 0 || state.seq === turn.base
}

function each(state: SessionState, calls: Call[], rule: (state: SessionState, which: TurnCall) => Step): Step {
  return calls.reduce<Step>(
    ([current, commands], call) => {
      if (!current.turn) return [current, commands]
      const [next, more] = rule(current, { turn: current.turn, call })
      return [next, [...commands, ...more]]
    },
    [state, []],
  )
}
