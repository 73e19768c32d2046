/** Gives a model call back whose prompt is too long, so that older records are summarised first. */
import type { Compaction } from '../../agent/compaction-settings.ts'
import { StelloError, toStelloError } from '../../core/errors.ts'
import type { Model } from '../../core/model.ts'
import type { CallModelInput, ModelOutcome } from '../../protocol/steps.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import type { Transcript } from '../../store/transcript/transcript-cache.ts'
import type { Ending } from '../step/end-step.ts'
import { makePrompt, type PromptParts } from './prompt.ts'
import { roomOf, type Room } from './room.ts'
import type { Message } from '../../core/message.ts'
import { densityOf, messageTokens, textTokens } from './token-estimate.ts'

/** A prompt that its provider refuses again and again, however short it is made, pauses the session. */
const REFUSALS = 5

export interface Fitting {
  compaction: Compaction
  /** Unset: the window is unknown. */
  room?: Room
}

/** Undefined without a `compaction`: the agent leaves conversations as they are. */
export async function fittingOf(
  compaction: Compaction | undefined,
  model: Model,
  { messages, density }: Pick<Transcript, 'messages' | 'density'>,
): Promise<Fitting | undefined> {
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

/** Pieces of the sample, and UTF-16 units of each. */
const PIECES = 24
const PIECE = 400

/**
 * How many tokens a provider probably counts for one of our estimate, where it does not tell. A tokenizer counts a
 * sample: to count everything would take seconds.
 *
 * @param least estimated tokens below which nobody needs to know: the tokenizer takes 70 MB of memory
 * @returns undefined below it
 */
async function sampledDensity(messages: readonly Message[], least: number): Promise<number | undefined> {
  const total = messages.reduce((sum, message) => sum + messageTokens(message), 0)
  if (total < least) return undefined
  const every = Math.max(1, Math.floor(messages.length / PIECES))
  const sample = messages
    .filter((_, index) => index % every === 0)
    .map(({ content }) => content.slice(0, PIECE))
    .join('\n')
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  return densityOf(countTokens(sample), textTokens(sample))
}
