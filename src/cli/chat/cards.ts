/** The cards of tool calls: from the first piece of the arguments to the result. Pure. */
import { parse } from 'partial-json'
import { isObject } from '../../core/is-object.ts'
import type { AskedCall, DurableEvents, LiveEvents, Streamed } from '../../protocol/events.ts'

/** A call as a person sees it. */
export interface Card {
  callId: string
  name: string
  title?: string
  /** One line for people. */
  tip?: string
  params?: Readonly<Record<string, unknown>>
  status: 'WAIT' | 'DOING' | 'SUCCESS' | 'ERROR'
  /** The last update of the running call. */
  update?: unknown
  result?: unknown
  code?: string
  /** When it was seen first. */
  since: Date
  durationMs?: number
  /** Its result is this record. */
  seq?: number
  /** Which attempt at which step has shown the card last. */
  step?: string
  attempt?: number
  /** A person has answered what it asked: it runs once more because of that. */
  answered?: true
}

/** The model has asked for a call, whose arguments are complete. */
export function asked(cards: readonly Card[], call: AskedCall, at: Date): readonly Card[] {
  if (cards.some(({ callId }) => callId === call.callId)) return cards
  const { callId, name, title } = call
  const params = readParams(call.arguments)
  return [
    ...cards,
    { callId, name, ...(title !== undefined && { title }), ...(params && { params }), status: 'WAIT', since: at },
  ]
}

/** @returns `again`: the line that tells that a call which had begun begins once more */
export function shownLive(
  cards: readonly Card[],
  data: LiveEvents['tool.status'] & Streamed,
  at: Date,
): { cards: readonly Card[]; again?: string } {
  const known = cards.find(({ callId }) => callId === data.callId)
  const isOlder = known?.step === data.step && (known.attempt ?? 0) > data.attempt
  if (known && isOlder) return { cards }
  const { showTip, status, step, attempt, ...shown } = data
  const card: Card = {
    ...known,
    ...shown,
    ...(showTip !== undefined && { tip: showTip }),
    status,
    step,
    attempt,
    since: known?.status === status ? known.since : at,
  }
  const begunBefore = known?.status === 'DOING' && known.step === step && (known.attempt ?? 0) < attempt
  const rest = { cards: known ? cards.map((one) => (one === known ? card : one)) : [...cards, card] }
  if (!begunBefore || known.answered) return rest
  return { ...rest, again: `${data.title ?? data.name} is taken over (try ${attempt}): its worker did not end it` }
}

export function ended(cards: readonly Card[], data: DurableEvents['tool.status'], at: Date): Card {
  const known = cards.find(({ callId }) => callId === data.callId)
  const { callId, name, title, showTip, params, status, seq, durationMs, result, code } = data
  return {
    callId,
    name,
    ...(title !== undefined && { title }),
    ...((showTip ?? known?.tip) !== undefined && { tip: showTip ?? known?.tip ?? '' }),
    ...((params ?? known?.params) && { params: params ?? known?.params ?? {} }),
    status,
    result,
    ...(code !== undefined && { code }),
    since: known?.since ?? at,
    durationMs,
    seq,
  }
}

/** Removes the cards that an earlier attempt at a step has streamed, when a later one begins. */
export function untilAttempt(cards: readonly Card[], { step, attempt }: Streamed): readonly Card[] {
  return cards.filter((card) => card.step !== step || (card.attempt ?? 0) >= attempt)
}

/** The arguments of a call may be cut, or broken JSON. */
function readParams(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
