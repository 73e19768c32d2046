/** Which part of a transcript a summary is to stand for. Pure. */
import type { Message } from '../../core/message.ts'
import type { Branch } from '../../protocol/config.ts'
import type { Transcript } from '../../store/transcript/transcript-cache.ts'
import { textTokens } from '../model/token-estimate.ts'
import { chooseCut, cutPoints } from './cut-points.ts'
import { rendered } from './rendered.ts'

export interface Plan {
  /** The messages that the summary stands for, beside the messages of the summary before it. */
  messages: readonly Message[]
  /** The last record of it. */
  at: Branch
  /** How many messages the new summary stands for. */
  standsFor: number
  /** The user's message that is being answered, if it is among them. */
  question?: string
}

export interface Wish {
  /** How many tokens of messages may stay. */
  keep: number
  /** How many tokens the model that summarises reads. Unset: nobody knows. */
  budget?: number
}

/**
 * The longest beginning that may be summarised at once, so that no more than `keep` stays if possible. The rest waits for the
 * next time.
 *
 * @returns undefined if nothing can be summarised: there is no place to cut
 */
export function planCompaction(transcript: Transcript, { keep, budget }: Wish): Plan | undefined {
  const { messages, summary } = transcript
  const wished = chooseCut(messages, keep)
  if (wished === undefined) return undefined
  const cut = budget === undefined ? wished : within(messages, wished, budget)
  const old = messages.slice(0, cut)
  const asked = old.findLast(({ role }) => role === 'user')?.content ?? summary?.question
  return {
    messages: old,
    at: transcript.branchOf(cut - 1),
    standsFor: (summary?.standsFor ?? 0) + cut,
    ...(messages[cut]?.role !== 'user' && asked !== undefined && { question: asked }),
  }
}

/** The last place up to the wished one before which there is no more than the budget; or else the first place. */
function within(messages: readonly Message[], wished: number, budget: number): number {
  const read = [0]
  for (const message of messages.slice(0, wished)) read.push((read.at(-1) ?? 0) + textTokens(rendered([message])))
  const points = cutPoints(messages).filter((index) => index <= wished)
  return points.findLast((index) => (read[index] ?? 0) <= budget) ?? points[0] ?? wished
}
