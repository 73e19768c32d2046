/** The material of a compaction, and its endings. */
import type { Compaction } from '../../agent/compaction-settings.ts'
import { preview, type Message, type Usage } from '../../core/message.ts'
import type { Model } from '../../core/model.ts'
import { newEvent, type DurableEvents, type NewEvent } from '../../protocol/events.ts'
import { SHOWN } from '../../protocol/limits.ts'
import type { CompactInput, CompactOutcome } from '../../protocol/steps.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import type { NewSummary } from '../../store/transcript/summaries.ts'
import type { Transcript } from '../../store/transcript/transcript-cache.ts'
import type { Writes } from '../../store/ledger/writes.ts'
import { wholeTokens } from '../model/model-answer.ts'
import { roomOf } from '../model/room.ts'
import { messageTokens } from '../model/token-estimate.ts'
import type { Ending } from '../step/end-step.ts'
import { planCompaction, type Plan } from './plan.ts'
import { NoSummary } from './summarise.ts'

/** The part of its window that a model which summarises reads at once. */
const READS = 0.7
/** The part of the window that a summary may have. */
const LONGEST_SUMMARY = 0.2
/** A summary of fewer tokens is not worth its price. */
export const LEAST_TOKENS = 100
/** How many of the user's messages are named in place of a summary, first and last ones, and how much of each. */
const NAMED = 10
const NAMED_SHOWN = 300
/** Longest text in place of a summary, in UTF-16 units: it grows with each time. */
const LONGEST_CUT = 16_000

export interface Given {
  input: CompactInput
  rootId: string
  transcript: Transcript
  compaction: Compaction
  /** The session's model. */
  own: Model
  /** Writes the summary. */
  model: Model
}

export interface Compacting extends Given {
  /** Tokens that may stay. */
  keep: number
  /** Tokens that a summary may have. */
  limit: number
  /** Tokens that the model reads at once; unset: nobody knows. */
  budget?: number
}

export function toCompacting(given: Given): Compacting {
  const { own, model, compaction, transcript, input } = given
  const { density } = transcript
  const total = tokensOf(transcript.messages)
  const room = roomOf(own, compaction, density)
  const reads = roomOf(model, model === own ? compaction : { at: READS, keep: READS }, density)
  // The estimate was wrong, or the window is unknown, or a person wants less than there is.
  const base = input.refusals > 0 || input.asked || !room ? Math.min(room?.window ?? total, total) : room.window
  return {
    ...given,
    keep: (compaction.keep * base) / 2 ** Math.max(0, input.refusals - 1),
    limit: Math.max(LEAST_TOKENS, LONGEST_SUMMARY * base),
    ...(reads && { budget: READS * reads.window }),
  }
}

/** Somebody has made a better summary since the prompt was found too long. */
export function isEnough({ transcript: { summary }, input: { standsFor = Infinity } }: Compacting): boolean {
  return (summary?.standsFor ?? 0) > standsFor
}

/** Nothing was written. @param done a summary stands for more than before, although this step has not made it */
export function ended({ gen }: Mine, done: boolean): Ending<CompactOutcome> {
  return { kind: 'settle', outcome: { kind: 'compacted', gen, done }, writes: {} }
}

/** A summary that was paid. */
interface Paid {
  usage: Usage
  /** The model that answered. */
  by: string
}

export function summarised(
  compacting: Compacting,
  claim: Mine,
  { plan, text, usage, by }: Paid & { plan: Plan; text: string },
): Ending<CompactOutcome> {
  return standing(compacting, claim, { plan, text, cut: false, paid: { usage, by } })
}

/**
 * The session must not stop because a summary could not be made: the older messages are left out without one. A
 * compaction that a person asked for leaves nothing out; it is then not done.
 *
 * @param error why; unset: its workers have died
 */
export function leftOut(compacting: Compacting, claim: Mine, error?: unknown): Ending<CompactOutcome> {
  const { input, transcript, keep } = compacting
  const paid = error instanceof NoSummary ? error : undefined
  const plan = input.asked ? undefined : planCompaction(transcript, { keep })
  if (plan)
    return standing(compacting, claim, {
      plan,
      text: textOfCut(plan.messages, transcript.summary?.text),
      cut: true,
      paid,
    })
  const { outcome, writes } = paying(compacting, claim, paid)
  return { kind: 'settle', outcome: { ...outcome, done: false }, writes }
}

/**
 * The text in place of messages that could not be summarised: a line that says so, and the user's messages.
 *
 * @param before the summary of everything before the messages
 */
function textOfCut(messages: readonly Message[], before?: string): string {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => `- ${preview(content, NAMED_SHOWN)}`)
  const named = said.length <= NAMED ? said : [...said.slice(0, NAMED / 2), '- …', ...said.slice(-NAMED / 2)]
  const left = `${messages.length} messages that followed are left out here. They could not be summarised.`
  const asked = named.length > 0 ? `${left} The user wrote in them:` : left
  const text = [...(before === undefined ? [] : [before]), [asked, ...named].join('\n')].join('\n\n')
  return text.length <= LONGEST_CUT ? text : `${preview(text, LONGEST_CUT / 2)}\n\n${text.slice(-LONGEST_CUT / 2)}`
}

function standing(
  compacting: Compacting,
  claim: Mine,
  { plan, paid, ...made }: Pick<NewSummary, 'text' | 'cut'> & { plan: Plan; paid: Paid | undefined },
): Ending<CompactOutcome> {
  const { at, standsFor, question } = plan
  const { outcome, writes, told } = paying(compacting, claim, paid)
  const summary: NewSummary = { at, standsFor, ...(question !== undefined && { question }), ...made }
  const event = compactedEvent(compacting.input, summary, told)
  return { kind: 'settle', outcome: { ...outcome, done: true }, writes: { ...writes, summary, events: [event] } }
}

type Told = Pick<DurableEvents['transcript.compacted'], 'model' | 'usage'>

/** A summary that nobody can use was paid too. */
function paying(
  { rootId }: Compacting,
  { gen }: Mine,
  paid: Paid | undefined,
): { outcome: { kind: 'compacted'; gen: number; usage?: Usage }; writes: Pick<Writes, 'usage'>; told: Told } {
  if (!paid) return { outcome: { kind: 'compacted', gen }, writes: {}, told: {} }
  const usage = wholeTokens(paid.usage)
  const told = { model: paid.by, usage }
  return { outcome: { kind: 'compacted', gen, usage }, writes: { usage: { rootId, model: paid.by, ...usage } }, told }
}

function compactedEvent(
  { key, turn, round, asked, refusals }: CompactInput,
  { at, standsFor, text, cut }: NewSummary,
  told: Told,
): NewEvent {
  const place = { turn, ...(round !== undefined && { round }) }
  return newEvent('transcript.compacted', {
    of: [key],
    at: place,
    data: {
      ...place,
      messages: standsFor,
      sessionId: at.sessionId,
      seq: at.seq,
      text: preview(text, SHOWN.message),
      cut,
      why: asked ? 'asked' : refusals > 0 ? 'refused' : 'full',
      ...told,
    },
  })
}

export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0)
}
