/**
 * The heart: what a session does next, as a pure function. No Temporal, no clock, no randomness; the same state and
 * input always give the same answer, so a crash at any point is a replay of inputs.
 *
 * Invariants, each held by a test:
 *  I1  Every call the model asked for gets exactly one result, however the turn ends.
 *  I2  The model is asked at most `maxToolRounds + 1` times per turn.
 *  I3  `timeoutsBeforePause` time-outs in a row of one tool, counted in call order, pause the session.
 *  I4  While the session is paused, or a resume is being told to the store, no model call, tool or child is begun.
 *  I5  Sequence numbers are given out without a gap and never twice.
 *  I6  One turn at a time; messages are answered in the order of their arrival, each exactly once.
 *  I7  An input that belongs to nothing under way changes nothing.
 *  I8  A call that waits for a person goes on by the first answer to that very question, or by a stop; a call is never
 *      begun again unless the ledger gave it back.
 *  I9  A session that is told, or finds in the store, that it is to close begins nothing more, and closes.
 *  I10 A session goes on by itself only at the time that its pause has promised, and only while that pause holds.
 *  I11 One compaction at a time, and neither a turn nor a model call begins beside it.
 *  I12 An ordered call begins only when every ordered call before it in its round is done.
 *  I13 A call that waits for agents runs again when one of them has told something or its time is over, and not before.
 *  I14 The time of a question ends the wait for that very question, unless an answer came before, and only once.
 *  I15 A `new_task` child reports once to its parent: the first turn that has ended, also in a workflow before this one,
 *      or else, with its close, turn 0.
 */
import { advance } from './advance.ts'
import { agentReported, waitOver } from './await-agents.ts'
import { childReported, childVanished, toolEnded, toolLost } from './calls.ts'
import type { Step } from './commands.ts'
import { compacted, compactionLost, compactRequested } from './compaction.ts'
import type { Input } from './inputs.ts'
import {
  announced,
  childrenTold,
  pauseRequested,
  resumeRequested,
  runFilled,
  runStarted,
  sessionOpened,
  stepFailed,
  tryDue,
} from './lifecycle.ts'
import { answerRejected, answered, askingOver } from './answers.ts'
import { peopleNotified } from './tell-people.ts'
import { messageReceived, messageRejected } from './queue.ts'
import type { SessionState } from './state.ts'
import { cancelAsked, closeRequested, modelEnded, modelLost, stopRequested, weatherReported } from './turn.ts'

/**
 * Applies one input. Returns the new state and what is to be done.
 *
 * @example
 * const [state, commands] = step(initialState({ sessionId: 's-1', label: 'demo' }), { type: 'runStarted' })
 */
export function step(state: SessionState, input: Input): Step {
  if (state.closed) return [state, []]
  const [changed, commands] = apply(state, input)
  const [next, due] = advance(changed)
  return [next, [...commands, ...due]]
}

function apply(state: SessionState, input: Input): Step {
  switch (input.type) {
    case 'runStarted':
      return runStarted(state, input)
    case 'runFilled':
      return runFilled(state)
    case 'sessionOpened':
      return sessionOpened(state, input)
    case 'messageReceived':
      return messageReceived(state, input.messageId, input.text)
    case 'messageRejected':
      return messageRejected(state, input.reason, { preview: input.preview })
    case 'answered':
      return answered(state, input.answer)
    case 'answerRejected':
      return answerRejected(state, input.reason, { preview: input.preview })
    case 'modelEnded':
      return modelEnded(state, input)
    case 'modelLost':
      return modelLost(state, input)
    case 'weatherReported':
      return weatherReported(state, input.report)
    case 'compacted':
      return compacted(state, input)
    case 'compactionLost':
      return compactionLost(state, input)
    case 'compactRequested':
      return compactRequested(state)
    case 'toolEnded':
      return toolEnded(state, input)
    case 'toolLost':
      return toolLost(state, input)
    case 'childReported':
      return childReported(state, input.report)
    case 'childVanished':
      return childVanished(state, input)
    case 'agentReported':
      return agentReported(state, input.report)
    case 'waitOver':
      return waitOver(state, input)
    case 'peopleNotified':
      return peopleNotified(state, input)
    case 'askingOver':
      return askingOver(state, input)
    case 'announced':
      return announced(state, input)
    case 'childrenTold':
      return childrenTold(state, input)
    case 'stepFailed':
      return stepFailed(state, input)
    case 'pauseRequested':
      return pauseRequested(state, input.message)
    case 'resumeRequested':
      return resumeRequested(state)
    case 'tryDue':
      return tryDue(state, input)
    case 'cancelRequested':
      return cancelAsked(state, input)
    case 'stopRequested':
      return stopRequested(state, input)
    case 'closeRequested':
      return closeRequested(state, input.cascade)
  }
}
