/** Opens, pauses, resumes and closes a session, and goes on when the store knows about it. */
import { StelloError } from '../core/errors.ts'
import { brief } from '../core/message.ts'
import { toPause } from '../core/pause.ts'
import { OPEN_KEY } from '../protocol/keys.ts'
import type { OpenSessionOutcome } from '../protocol/steps.ts'
import {
  announceClose,
  announcePause,
  announceResume,
  nextTry,
  refusalsTold,
  switchTold,
  tellHeldBack,
} from './outbox.ts'
import { endsOfAsking } from './answers.ts'
import { endsOfWaits, tellParent, wakeParent } from './await-agents.ts'
import { findCall, isUnderWay, replaceCall } from './call.ts'
import type { Command, Step } from './commands.ts'
import { compactionOver } from './compaction.ts'
import type { Input } from './inputs.ts'
import { noticesLeft, pauseToTell } from './tell-people.ts'
import { messageStored, takeUnanswered } from './queue.ts'
import { CHILDREN_AT_ONCE, placeOf, type SessionState } from './state.ts'
import { CLOSING, closeRequested, completingCall, finishTurn, inFineWeather, isLeftOut, report } from './turn.ts'

/** Longest name of a model, in bytes. */
const MODEL_SHOWN = 100

type Of<T extends Input['type']> = Extract<Input, { type: T }>

/**
 * Every run first asks the store how far the session has come, because the store may know more than the state
 * (durability 1).
 */
export function runStarted(state: SessionState, { older, wakesAsking }: Of<'runStarted'>): Step {
  const { openFailed: _before, older: _then, wakesAsking: _once, resting: _over, ...known } = state
  const as = { ...(older && { older }), ...(wakesAsking && { wakesAsking }) }
  const [next, commands] = tellHeldBack({ ...known, opened: false, ...as })
  return [
    next,
    [
      openSession(known),
      ...commands,
      ...nextTry(next),
      ...endsOfWaits(next),
      ...endsOfAsking(next),
      ...noticesLeft(next),
    ],
  ]
}

/** Nothing new starts in this run. It ends when everything under way has ended. */
export function runFilled(state: SessionState): Step {
  return [{ ...state, resting: true }, []]
}

/** A resume while the session is being opened makes it ask the store twice. The second answer is ignored. */
export function sessionOpened(state: SessionState, { outcome, older }: Of<'sessionOpened'>): Step {
  if (state.opened) return [state, []]
  switch (outcome.kind) {
    case 'opened': {
      const { resumed, tries: _over, stopFound, fresh, ...before } = takeUnanswered(state, outcome.unanswered)
      const left = before.pause || resumed ? undefined : outcome.pause
      const pause = before.pause ?? left
      const found: SessionState = {
        ...before,
        ...(pause && { pause }),
        opened: true,
        gen: outcome.gen,
        seq: Math.max(state.seq, outcome.seq),
        turns: Math.max(state.turns, outcome.turn),
        limits: outcome.limits,
        model: { ...outcome.model, name: brief(outcome.model.name, MODEL_SHOWN) },
      }
      const asks =
        outcome.unanswered !== undefined || (older && (found.closing || found.queue.length > 0 || !found.turns))
      const [ready, reports] = asks ? [found, []] : reportAnswered(found)
      const wakes = fresh && !older && outcome.unanswered === undefined ? wakeParent(found) : []
      const promised = left ? nextTry(ready) : []
      const closes = outcome.closing || (stopFound === 'session' && outcome.unanswered === undefined)
      if (!closes) return [ready, [...reports, ...wakes, ...promised]]
      const [closing, commands] = closeRequested(ready, outcome.closing === true)
      return [closing, [...reports, ...wakes, ...promised, ...commands]]
    }
    case 'closed':
      return foundClosed(state)
    case 'failed':
      return openingFailed(state, outcome)
  }
}

/** If this run has closed it, the store's answer to that is on its way, and with it the children that are to be told. */
function foundClosed(state: SessionState): Step {
  if (state.closing?.after !== undefined) return tellMoreChildren(state)
  return state.closing?.announced ? [state, []] : [{ ...state, closed: true }, []]
}

/** The opening may have found a pause that a person has lifted since. Then the resume opens the session again. */
function openingFailed(state: SessionState, { pause, found }: Extract<OpenSessionOutcome, { kind: 'failed' }>): Step {
  if (found && state.resumed) {
    if (state.resuming) return [{ ...state, openFailed: true }, []]
    if (!state.pause) return [state, []]
  }
  const [paused, commands] = announcePause({ ...state, openFailed: true }, pause)
  if (state.stopFound !== 'session') return [paused, commands]
  const [closing, telling] = closeRequested(paused, false)
  return [closing, [...commands, ...telling]]
}

/**
 * If the workflow of a `new_task` child was lost after its answer and before its report, only the report is left to do.
 * Messages that wait are not for the parent: they end with the child. A stop that came before the opening changes nothing.
 * A child that has neither answered nor a message left was refused its task, or has lost it: it closes.
 */
function reportAnswered(state: SessionState): Step {
  const { awaited, ...reported } = state
  if (!awaited || state.turn) return [state, []]
  const closing = state.closing ?? CLOSING
  if (state.turns > 0) return [{ ...reported, closing }, [report(state, awaited, state.turns)]]
  return [state.queue.length > 0 ? state : { ...state, closing }, []]
}

export function pauseRequested(state: SessionState, message: string | undefined): Step {
  return announcePause(state, { reason: 'user', message: message ?? 'paused by request' })
}

/**
 * Clears the time-out counts. Before the session is opened, only the store knows whether an earlier workflow has paused
 * it.
 */
export function resumeRequested(state: SessionState): Step {
  if (state.resuming || (state.opened && !state.pause)) return [state, []]
  const { tries: _over, ...known } = state
  return announceResume({ ...known, timeouts: {}, ...(!state.opened && { resumed: true }) })
}

/** The step that is due is tried once. What paused the session meanwhile, or resumed it, has cleared the promise. */
export function tryDue(state: SessionState, { at }: Of<'tryDue'>): Step {
  if (state.resuming || state.pause?.nextTryAt !== at) return [state, []]
  const tries = (state.tries ?? 0) + 1
  return announceResume({ ...state, tries, ...(!state.opened && { resumed: true }) })
}

/** If the session has resumed by itself, and nothing is due any more, the try is over. */
function withoutTry(state: SessionState): SessionState {
  const { tries: _over, ...rested } = state
  return state.turn || state.compactAsked || !state.opened ? state : rested
}

export function announced(state: SessionState, { key, tag, outcome, messageId }: Of<'announced'>): Step {
  const known = { ...state, gen: outcome.gen }
  switch (tag) {
    case 'turnEnd':
      return turnEnded(known)
    case 'resume': {
      const [told, commands] = switchTold(known, key)
      if (key !== told.resuming) return [told, commands]
      const { pause: _pause, resuming: _resuming, openFailed: _failed, ...going } = told
      const resumed = withoutTry(going)
      const opens = !resumed.opened && !resumed.closing?.announced
      return [resumed, opens ? [openSession(resumed), ...commands] : commands]
    }
    case 'pause': {
      const [told, commands] = switchTold(known, key)
      if (!outcome.tell || !told.pause) return [told, commands]
      const [next, notices] = pauseToTell(told, key)
      return [next, [...commands, ...notices]]
    }
    case 'close':
      return closed(known, outcome.children)
    case 'message':
      return [messageStored(known, messageId), []]
    case 'refused':
      return refusalsTold(known, key)
    case 'none':
      return [known, []]
  }
}

/** The session ends when all children are told. After a full batch, more children may be left. */
function closed(state: SessionState, children: string[]): Step {
  const telling: Command[] = children.length > 0 ? [{ type: 'closeChildren', children }] : []
  const after = children.length < CHILDREN_AT_ONCE ? undefined : children.at(-1)
  if (state.closing && after !== undefined) return [{ ...state, closing: { ...state.closing, after } }, telling]
  const reports = state.awaited ? [report(state, state.awaited, 0)] : tellParent(state, 0, '')
  return [{ ...state, closed: true }, [...telling, ...reports]]
}

export function childrenTold(state: SessionState, { upTo }: Of<'childrenTold'>): Step {
  // If the history is nearly full, the next run goes on with this when it has opened the session.
  return state.closing?.after === upTo && !state.resting ? tellMoreChildren(state) : [state, []]
}

function tellMoreChildren(state: SessionState): Step {
  const { after } = state.closing ?? {}
  return announceClose(state, { messages: [], cascade: true, ...(after !== undefined && { after }) })
}

/** The step becomes due again and the session pauses. After a repair, resume tries the same step once more. */
export function stepFailed(state: SessionState, { step, code, message }: Of<'stepFailed'>): Step {
  const due = makeDue(state, step)
  if (due === state) return [state, []]
  return announcePause(due, toPause(new StelloError(code, message)))
}

function makeDue(state: SessionState, step: Of<'stepFailed'>['step']): SessionState {
  const { turn } = state
  switch (step.of) {
    case 'model':
      return turn?.phase === 'model' && turn.running && turn.n === step.turn && turn.round === step.round
        ? { ...state, turn: { ...inFineWeather(turn), running: false } }
        : state
    case 'compaction':
      return compactionOver(state, step.key) ?? state
    case 'tool': {
      const found = findCall(state, step)
      return found && isUnderWay(found.call) ? replaceCall(state, found.turn, { ...found.call, status: 'due' }) : state
    }
  }
}

function turnEnded(state: SessionState): Step {
  const { turn } = state
  if (turn?.phase !== 'ending') return [state, []]
  const counted = isLeftOut(turn) ? { ...state, leftOut: (state.leftOut ?? 0) + 1 } : state
  return finishTurn(counted, turn, {
    stopReason: turn.stopping ?? 'cancelled',
    text: completingCall(turn)?.result?.preview ?? '',
  })
}

function openSession(state: SessionState): Command {
  const { sessionId, gen, turns, seq, tries } = state
  return {
    type: 'openSession',
    input: {
      sessionId,
      key: OPEN_KEY,
      gen,
      turn: turns,
      base: seq,
      place: placeOf(state),
      ...(tries !== undefined && { tries }),
    },
  }
}
