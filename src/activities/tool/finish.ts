/**
 * The third phase: turns the end of a call into a record for the model, an event for people and an outcome for the
 * workflow.
 */
import { messageOf, type StelloError, type ToolErrorCode } from '../../core/errors.ts'
import { brief, preview, type Message, type Part } from '../../core/message.ts'
import { normalizeResult, type NormalizedResult } from '../../tool/result.ts'
import { withoutKnownIn, withoutSecrets } from '../../core/secrets.ts'
import type { CallResult, CallToolInput, ToolOutcome } from '../../protocol/steps.ts'
import { newEvent, type DurableEvents } from '../../protocol/events.ts'
import { nextRecord } from '../../store/ledger/hashes.ts'
import type { NewValue } from '../../store/transcript/values.ts'
import type { Writes } from '../../store/ledger/writes.ts'
import type { Ending } from '../step/end-step.ts'
import { shownNames } from './call-names.ts'
import { shown } from './shown.ts'
import type { ToolChannel } from './tool-channel.ts'

/** Longest result that the model reads, in UTF-16 units. The store keeps the whole. */
const RESULT_LIMIT = 50 * 1024
/** Longest result that is stored, in UTF-16 units, with its pictures. */
const STORED_LIMIT = 16 * 1024 * 1024
/** Longest name of a tool's failure, in bytes, where failures are counted. */
const ERROR_SHOWN = 40
/** Longest details for people. A note replaces longer ones. */
const DETAILS_LIMIT = 64 * 1024

export type CallEnd = { value: unknown; endsTurn?: boolean } | { error: StelloError; endsTurn?: boolean }

export interface CallEnded {
  input: CallToolInput
  claim: { gen: number }
  /** Chain hash of the assistant's record. */
  chain: string
  durationMs: number
  end: CallEnd
  /** The updates and the card that people saw while it ran. */
  told?: Pick<ToolChannel, 'card' | 'updates'>
  /** The values that it has set. */
  values?: NewValue[]
  /** The generation of the working folder that the session knows from now on. */
  workspace?: number
}

export function finish(ended: CallEnded): Ending<ToolOutcome> {
  const { outcome, writes } = settlement(ended)
  return { kind: 'settle', outcome, writes }
}

/** The same for code that settles a call without having run it. */
export function settlement({ input, claim, chain, durationMs, end, told, values, workspace }: CallEnded): {
  outcome: CallResult
  writes: Writes
} {
  const code = 'error' in end ? (end.error.code as ToolErrorCode) : undefined
  const result: NormalizedResult =
    'error' in end ? { content: errorText(end.error), isError: true } : discreet(normalizeResult(end.value))
  const whole = storable(result)
  const { content, cut } = limit(whole, input)
  const message: Message = {
    role: 'tool',
    toolCallId: input.call.id,
    name: input.call.name,
    content,
    ...(result.parts && !cut && sizeOf(result.parts) <= STORED_LIMIT && { parts: result.parts }),
    ...(result.isError && { isError: true }),
  }
  const record = nextRecord(chain, input.seq, message)
  const outcome: CallResult = {
    kind: 'settled',
    gen: claim.gen,
    isError: result.isError,
    ...(code && { code }),
    ...(result.error && { error: brief(result.error.code ?? result.error.type ?? '', ERROR_SHOWN) }),
    preview: preview(result.content),
    durationMs,
    ...('endsTurn' in end && end.endsTurn && { endsTurn: true }),
    ...(workspace !== undefined && { workspace }),
  }
  const card = told?.card
  const data: DurableEvents['tool.status'] = {
    ...card,
    // A tool may show people a failure that is a success for the model, but never the other way round.
    status: result.isError || card?.status === 'ERROR' ? 'ERROR' : 'SUCCESS',
    ...shownNames(input.call),
    turn: input.turn,
    seq: input.seq,
    durationMs,
    result: card?.result ?? preview(result.display ?? result.content),
    ...(code && { code }),
    ...(result.error && { error: result.error }),
    ...(result.details !== undefined && { details: shown(result.details, DETAILS_LIMIT) }),
  }
  const { key, turn, round } = input
  const at = { turn, round }
  const updates = (told?.updates ?? []).map(([kind, update]) =>
    newEvent('tool.update', { of: [key, kind], at, data: { ...shownNames(input.call), update } }),
  )
  const events = [...updates, newEvent('tool.status', { of: [key], at, data })]
  const records = [cut ? { ...record, whole } : record]
  return { outcome, writes: { records, events, ...(values?.length && { values }) } }
}

/** Cuts known secrets from every result. Cuts passwords in URLs from failures only; other content stays as it is. */
function discreet(result: NormalizedResult): NormalizedResult {
  const told = withoutKnownIn(result)
  return told.isError ? { ...told, content: withoutSecrets(told.content) } : told
}

/** Cuts the content: a tool may return more than the store takes, and more than anybody reads. */
function storable({ content, parts = [] }: NormalizedResult): string {
  if (content.length > STORED_LIMIT) {
    return `${preview(content, STORED_LIMIT)}\n[${content.length} characters; the rest is not stored]`
  }
  return sizeOf(parts) > STORED_LIMIT ? `${content}\n[the pictures are larger than 16 MiB and left out]` : content
}

function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((size, part) => size + (part.type === 'text' ? part.text : part.data).length, 0)
}

function errorText(error: StelloError): string {
  return error.code === 'TOOL_PRECONDITION_FAILED' ? messageOf(error) : `${error.code}: ${messageOf(error)}`
}

function limit(content: string, { sessionId, seq }: CallToolInput): { content: string; cut: boolean } {
  if (content.length <= RESULT_LIMIT) return { content, cut: false }
  const note = `\n[cut: ${RESULT_LIMIT} of ${content.length} characters; people read the whole by \`stello transcript ${sessionId} --at ${seq}\`]`
  return { content: preview(content, RESULT_LIMIT) + note, cut: true }
}
