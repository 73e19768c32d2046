/** Gives a model call back whose prompt is too long, so that older records are summarised first. */
import type { StelloAgent } from '../../agent/agent.ts'
import type { Compaction } from '../../agent/compaction-settings.ts'
import { StelloError, toStelloError } from '../../core/errors.ts'
import type { Model } from '../../core/model.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import type { CallModelInput, ModelOutcome } from '../../protocol/steps.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import type { Transcript } from '../../store/transcript/transcript-cache.ts'
import type { Ending } from '../step/end-step.ts'
import { makePrompt, type PromptParts } from './prompt.ts'
import { sampledDensity } from './sampled-density.ts'
import { roomOf, type Room } from './room.ts'

/** A prompt that its provider refuses again and again, however short it is made, pauses the session. */
const REFUSALS = 5

export interface Fitting {
  compaction: Compaction
  /** Unset: the window is unknown. */
  room?: Room
}

/** Undefined if the agent leaves conversations as they are. */
export async function fittingOf(
  agent: Pick<StelloAgent, 'compactionOf'>,
  { profile }: Pick<SessionConfig, 'profile'>,
  model: Model,
  { messages, density }: Pick<Transcript, 'messages' | 'density'>,
): Promise<Fitting | undefined> {
  const compaction = agent.compactionOf(profile)
  if (!compaction) return undefined
  const room = roomOf(model, compaction, density)
  if (!room || density !== undefined) return { compaction, ...(room && { room }) }
  const counted = await sampledDensity(messages, room.limit / 2)
  return { compaction, room: roomOf(model, compaction, counted) ?? room }
}

/**
 * Whether the provider says that the prompt is too long, and a shorter one can be made.
 *
 * @param parts the parts of the refused prompt
 */
export function canBeShorter(error: unknown, { refusals = 0, asIs }: CallModelInput, parts: PromptParts): boolean {
  if (refusals >= REFUSALS || toStelloError(error)?.code !== 'MODEL_CONTEXT_TOO_LONG') return false
  return !asIs || makePrompt({ ...parts, refusals: refusals + 1 }).tokens < makePrompt(parts).tokens
}

/** The step is not done: the workflow has the transcript made shorter, and asks for the same step again. */
export function tooLong(
  { gen }: Mine,
  { summary }: PromptParts['transcript'],
  how: { refused: boolean },
): Ending<ModelOutcome> {
  return { kind: 'giveBack', result: { kind: 'full', gen, ...how, standsFor: summary?.standsFor ?? 0 } }
}

/** The text for people when nothing helps. */
export function tooLongForGood(error: unknown): unknown {
  const known = toStelloError(error)
  if (known?.code !== 'MODEL_CONTEXT_TOO_LONG') return error
  return new StelloError(known.code, `${known.message} (what is left cannot be made shorter)`, {
    hint:
      'the system prompt, the tools and the last message alone are too long for this model: give the agent a model with a ' +
      'longer window, then resume, or cancel the turn and send a shorter message',
  })
}
