/**
 * A provider that refuses a request for good would refuse it in every later turn too, because the cause stays in the
 * transcript. So there is always a way out, and people are told. If the record belongs to the turn under way, a cancel
 * removes that turn from later prompts. If the record is older, a fork before it goes on.
 */
import { StelloError, toStelloError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Branch } from '../../protocol/config.ts'
import type { Transcript } from '../../store/transcript/transcript-cache.ts'
import { conversationOf, makePrompt, type PromptParts } from './prompt.ts'

/** A request that cannot be processed as it is. Other statuses are about the address or the settings. */
const ABOUT_THE_REQUEST: readonly unknown[] = [400, 422]

/** The messages that the model was shown, the newest last. */
export interface Shown {
  messages: readonly Message[]
  /** The record of a message; undefined if it is none, such as a summary. */
  branchOf(index: number): Branch | undefined
}

/**
 * @param transcript the records that the prompt was made of
 * @param last the record of its last message
 */
export function shownOf(parts: PromptParts, transcript: Pick<Transcript, 'branchOf'>, last: Branch): Shown {
  const { messages } = parts.transcript
  const first = conversationOf(parts.transcript).length - messages.length
  return {
    messages: makePrompt(parts).messages,
    branchOf(index) {
      if (index < first) return undefined
      return index < first + messages.length ? transcript.branchOf(index - first) : last
    },
  }
}

export interface WayOut {
  /** With the record that the provider means, and the way out in its hint. */
  error: unknown
  /** The record belongs to the turn: a cancel leads out. */
  refused: boolean
}

/** @returns every other error as it is */
export function wayOut(error: unknown, { messages, branchOf }: Shown): WayOut {
  const known = toStelloError(error)
  if (known?.code !== 'MODEL_REFUSED_REQUEST' || !ABOUT_THE_REQUEST.includes(known.status)) {
    return { error, refused: false }
  }
  const begin = messages.findLastIndex(({ role }) => role === 'user')
  const named = known.behind === undefined ? -1 : messages.length - 1 - known.behind
  const namedPlace = named < 0 ? undefined : branchOf(named)
  const place = namedPlace ?? (begin < 0 ? undefined : branchOf(begin))
  if (!place) return { error, refused: false }
  const refused = !namedPlace || named >= begin
  const { sessionId, seq } = place
  const means = namedPlace ? `it means record ${seq} of session ${sessionId}` : 'it does not say which record it means'
  const cancel = refused
    ? 'cancel the turn, and models no longer read what was said in it; or '
    : 'every later turn is refused too: '
  const hint =
    `${means}; correct what is wrong with the name or the settings of the model, then resume; where they are right, ${cancel}` +
    `go on as if record ${seq} and what follows had not been said: stello fork ${sessionId} --before ${seq} --label "without record ${seq}"`
  return {
    error: new StelloError(known.code, known.message, {
      hint,
      ...(known.status !== undefined && { status: known.status }),
    }),
    refused,
  }
}
