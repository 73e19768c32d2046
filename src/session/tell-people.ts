/**
 * People outside are told of what waits for them. A notice stands in the state until it was told, so every run tells
 * what the run before did not. Nothing else waits for it.
 */
import { noticeKey } from '../protocol/keys.ts'
import type { NotifyInput } from '../protocol/notices.ts'
import { keyOf, replaceCall, type TurnCall } from './call.ts'
import type { Command, Step } from './commands.ts'
import type { Input } from './inputs.ts'
import { placeOf, type SessionState } from './state.ts'

type Of<T extends Input['type']> = Extract<Input, { type: T }>

/** The notice of the question that the call waits with. */
export function tellOfQuestion(state: SessionState, { turn, call }: TurnCall): Command[] {
  const { id, tell } = call.pending ?? {}
  return id !== undefined && tell ? [notify(state, noticeKey(id), { call: keyOf(turn, call), id })] : []
}

/** @param key of the announcement of the pause */
export function pauseToTell(state: SessionState, key: string): Step {
  const next = { ...state, telling: noticeKey(key) }
  return [next, tellOfPause(next)]
}

/** What the run before was to tell. */
export function noticesLeft(state: SessionState): Command[] {
  const { turn } = state
  const questions = turn?.phase === 'tools' ? turn.calls.flatMap((call) => tellOfQuestion(state, { turn, call })) : []
  return [...questions, ...tellOfPause(state)]
}

export function peopleNotified(state: SessionState, { key }: Of<'peopleNotified'>): Step {
  const { telling, ...told } = state
  if (telling === key) return [told, []]
  const { turn } = state
  const call = turn?.calls.find(({ pending }) => pending?.tell && noticeKey(pending.id) === key)
  if (!turn || !call?.pending) return [state, []]
  const { tell: _told, ...pending } = call.pending
  return [replaceCall(state, turn, { ...call, pending }), []]
}

/** A pause that has ended by now is not told. */
function tellOfPause(state: SessionState): Command[] {
  const { telling, pause } = state
  if (telling === undefined || !pause) return []
  return [notify(state, telling, { pause: { reason: pause.reason, message: pause.message } })]
}

function notify(state: SessionState, key: string, about: NotifyInput['about']): Command {
  const { sessionId, gen, turns, seq, turn } = state
  const input = { sessionId, key, gen, turn: turns, base: turn?.base ?? seq, place: placeOf(state), about }
  return { type: 'notifyPeople', input }
}
