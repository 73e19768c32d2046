/**
 * When a session makes its conversation shorter: before the model is asked, if the prompt is too long, or between turns, if a
 * person asks for it. How it is done, an activity knows.
 */
import { compactionKey } from '../protocol/keys.ts'
import type { Command, Step } from './commands.ts'
import type { Input } from './inputs.ts'
import { announcePause, foundPaused } from './outbox.ts'
import { addUsage } from './stats.ts'
import { placeOf, type SessionState } from './state.ts'
import { closeRequested, inFineWeather } from './turn.ts'

type Of<T extends Input['type']> = Extract<Input, { type: T }>

/** A session that is about to close does nothing more. A turn under way ends first. */
export function compactRequested(state: SessionState): Step {
  return [state.closing ? state : { ...state, compactAsked: true }, []]
}

/** For the round that waits for it, or else because a person has asked. */
export function startCompaction(state: SessionState): Step {
  const { turn } = state
  const key = compactionKey((state.compactions ?? 0) + 1)
  const command: Command = {
    type: 'compact',
    input: {
      sessionId: state.sessionId,
      key,
      gen: state.gen,
      turn: turn?.n ?? state.turns,
      base: turn?.base ?? state.seq,
      place: placeOf(state),
      upTo: state.seq,
      refusals: turn?.fit?.refusals ?? 0,
      ...(state.tries !== undefined && { tries: state.tries }),
      ...(turn ? { round: turn.round } : { asked: true }),
      ...(turn?.fit?.standsFor !== undefined && { standsFor: turn.fit.standsFor }),
    },
  }
  return [{ ...state, compacting: key }, [command]]
}

export function compacted(state: SessionState, { key, outcome }: Of<'compacted'>): Step {
  const rested = compactionOver(state, key)
  if (!rested) return [state, []]
  if (outcome.kind === 'notStarted') return outcome.closing ? closeRequested(rested, true) : foundPaused(rested)
  if (outcome.kind === 'failed') return isUnwanted(rested) ? [rested, []] : announcePause(rested, outcome.pause)
  const usage = outcome.kind === 'compacted' ? outcome.usage : undefined
  const ended = { ...rested, gen: outcome.gen }
  const counted = usage ? addUsage(ended, usage) : ended
  const { turn, compactAsked: _done, tries: _over, ...others } = counted
  if (!turn) return [others, []]
  const { refusals = 0 } = turn.fit ?? {}
  const shorter = outcome.kind === 'compacted' && outcome.done
  return [{ ...counted, turn: { ...turn, fit: { refusals, ...(!shorter && { asIs: true }) } } }, []]
}

/** Nobody wants a compaction any more: the turn that needed it, or the person who asked for it, was stopped. */
function isUnwanted({ turn, compactAsked, older }: SessionState): boolean {
  return turn ? turn.stopping !== undefined : !compactAsked && !older
}

/** The activity was cancelled, or took too long. The ledger knows what really happened. */
export function compactionLost(state: SessionState, { key, input }: Of<'compactionLost'>): Step {
  return [state, state.compacting === key ? [{ type: 'settleCompaction', input }] : []]
}

/** The state without that compaction: it is due again, as another step. Undefined if it is not under way. */
export function compactionOver(state: SessionState, key: string): SessionState | undefined {
  const { compacting, ...rest } = state
  if (compacting !== key) return undefined
  const over = { ...rest, compactions: (state.compactions ?? 0) + 1 }
  return over.turn ? { ...over, turn: inFineWeather({ ...over.turn, running: false }) } : over
}
