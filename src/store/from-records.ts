/**
 * The same text once: what events, outcomes and turns tell of a record is not kept beside it. What the record says is
 * left out when it is written and read from the record again. Only what comes back exactly as it was is left out: all
 * else, and whatever tells of no record, is kept as it is. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import { brief, preview, type Message } from '../core/message.ts'
import type { EventPlace } from '../protocol/events.ts'

/** How the activities cut what they tell. A limit that is another one there costs bytes, and nothing else. */
const LIMITS = { message: 4096, text: 1000, name: 64, arguments: 100 } as const

type Json = Record<string, unknown>

/** The beginning of a record, as the function `stello_shown` cuts it. */
export type Shown = Pick<Message, 'content' | 'toolCalls'>

/** A record that is written beside what tells of it. */
interface Written {
  seq: number
  message: Message
  whole?: string
}

interface Told {
  type: string
  data: object
}

export interface KeptEvent {
  data: Json
  /** The record that holds the rest. */
  seq?: number
}

/** @param records what is written with it */
export function keepEvent(event: Told & { at: EventPlace }, records: readonly Written[]): KeptEvent {
  const { type, at } = event
  const data: Json = { ...event.data }
  const record = recordOf(type, data, records)
  const told = record && toldOf(type, { ...('turn' in at && at), seq: record.seq }, record.message)
  if (!record || !told) return { data }
  const kept = without(data, told)
  return isDeepStrictEqual(withTold(kept, told), data) ? { data: kept, seq: record.seq } : { data }
}

/** @param shown its record; null where it tells of none */
export function wholeEvent(
  event: Told & { turn: number | null; round: number | null; seq: number | null },
  shown: Shown | null,
): Json {
  const { type, turn, round, seq } = event
  const data: Json = { ...event.data }
  const told = shown && seq !== null && toldOf(type, { turn: turn ?? undefined, round: round ?? undefined, seq }, shown)
  return told ? withTold(data, told) : data
}

/** The record it names; a turn's end names none, and tells of the one that holds its text. */
function recordOf(type: string, data: Json, records: readonly Written[]): Written | undefined {
  return type === 'turn.completed'
    ? records.findLast(({ message }) => preview(message.content, LIMITS.text) === data['text'])
    : records.find(({ seq }) => seq === data['seq'])
}

/** What an event tells that stands in its row or in its record. */
function toldOf(
  type: string,
  { turn, round, seq }: { turn?: number | undefined; round?: number | undefined; seq: number },
  { content, toolCalls = [] }: Shown,
): Json | undefined {
  switch (type) {
    case 'turn.started':
      return { turn, seq, text: preview(content, LIMITS.message) }
    case 'message.completed': {
      const calls = toolCalls.map(({ id, name, arguments: args }) => {
        return { callId: id, name, arguments: preview(args, LIMITS.text) }
      })
      return { turn, round, seq, text: preview(content, LIMITS.message), calls }
    }
    case 'tool.status':
      return { turn, seq, result: preview(content, LIMITS.text) }
    case 'turn.completed':
      return { turn, text: preview(content, LIMITS.text) }
  }
  return undefined
}

/** An outcome that names its generation is kept whole: else it is that of its row. */
export function keepOutcome(outcome: unknown, gen: number, records: readonly Written[]): unknown {
  if (!isJson(outcome) || outcome['gen'] !== gen) return outcome
  const told = outcomeOf(outcome, gen, records)
  if (!told) return outcome
  const kept = without(outcome, told)
  return isDeepStrictEqual(withTold(kept, told), outcome) ? kept : outcome
}

/** @param records those that its step has written */
export function wholeOutcome(
  outcome: unknown,
  gen: number,
  records: readonly { seq: number; message: Shown }[] | null,
): unknown {
  if (!isJson(outcome) || 'gen' in outcome) return outcome
  const told = outcomeOf(outcome, gen, records ?? [])
  return told ? withTold(outcome, told) : outcome
}

/** What the outcome of a step tells that stands in its row or in the records it has written. */
function outcomeOf(
  { kind, stopReason }: Json,
  gen: number,
  records: readonly { seq: number; message: Shown }[],
): Json | undefined {
  const [first, last] = [records[0], records.at(-1)]
  if (!first || !last) return undefined
  const { content, toolCalls = [] } = first.message
  if (kind === 'settled') return { gen, preview: preview(content, LIMITS.text) }
  if (kind !== 'answered') return undefined
  const asked = stopReason === undefined ? toolCalls : []
  const calls = asked.map(({ id, name, arguments: args }) => {
    // Its beginning is enough, however long it is.
    return { id, name: brief(name, LIMITS.name), preview: brief(args.slice(0, LIMITS.arguments + 1), LIMITS.arguments) }
  })
  return { gen, seq: last.seq, text: preview(content, LIMITS.text), calls }
}

/** The text a turn ends with. @returns the record that holds it */
export function answerOf(text: string | undefined, records: readonly Written[]): Written | undefined {
  return text === undefined ? undefined : records.findLast(({ message, whole }) => (whole ?? message.content) === text)
}

/** Of lists, such as calls, what each item has beyond what is told of it. */
function without(data: Json, told: Json): Json {
  const kept = Object.entries(data).map(([name, value]): [string, unknown] => {
    const known = told[name]
    if (isDeepStrictEqual(value, known)) return [name, undefined]
    if (!isList(value) || !isList(known) || value.length !== known.length) return [name, value]
    return [name, value.map((item, i) => without(item, known[i] ?? {}))]
  })
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined))
}

function withTold(kept: Json, told: Json): Json {
  const whole = Object.entries(told).map(([name, known]): [string, unknown] => {
    const value = kept[name]
    if (!isList(value) || !isList(known) || value.length !== known.length) return [name, value ?? known]
    return [name, value.map((item, i) => ({ ...known[i], ...item }))]
  })
  return { ...kept, ...Object.fromEntries(whole) }
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isList(value: unknown): value is Json[] {
  return Array.isArray(value) && value.every(isJson)
}
