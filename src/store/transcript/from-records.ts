/**
 * Stores each text only once. Events, outcomes and turns repeat texts of records: those texts are left out when they
 * are written, and taken from the record when they are read. A text is left out only if it comes back exactly as it
 * was. All other data is stored as it is. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import { brief, preview, type Message } from '../../core/message.ts'
import type { EventPlace } from '../../protocol/events.ts'
import { isObject } from '../../core/is-object.ts'
import { SHOWN } from '../../protocol/limits.ts'

type Json = Record<string, unknown>

/** The beginning of a record, as the function `stello_shown` cuts it. */
export type Shown = Pick<Message, 'content' | 'toolCalls'>

/** A record that is written together with data that repeats it. */
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

/** @param records are written together with the event */
export function keepEvent(event: Told & { at: EventPlace }, records: readonly Written[]): KeptEvent {
  const { type, at } = event
  const data: Json = { ...event.data }
  const record = recordOf(type, data, records)
  const told = record && toldOf(type, { ...('turn' in at && at), seq: record.seq }, record.message)
  if (!record || !told) return { data }
  const kept = without(data, told)
  return isDeepStrictEqual(withTold(kept, told), data) ? { data: kept, seq: record.seq } : { data }
}

/** @param shown the event's record; null if it has none */
export function wholeEvent(
  event: Told & { turn: number | null; round: number | null; seq: number | null },
  shown: Shown | null,
): Json {
  const { type, turn, round, seq } = event
  const data: Json = { ...event.data }
  const told = shown && seq !== null && toldOf(type, { turn: turn ?? undefined, round: round ?? undefined, seq }, shown)
  return told ? withTold(data, told) : data
}

/** The record that the event names. The end of a turn names none: its record is the one that holds its text. */
function recordOf(type: string, data: Json, records: readonly Written[]): Written | undefined {
  return type === 'turn.completed'
    ? records.findLast(({ message }) => preview(message.content) === data['text'])
    : records.find(({ seq }) => seq === data['seq'])
}

/** The part of an event's data that its row or its record holds already. */
function toldOf(
  type: string,
  { turn, round, seq }: { turn?: number | undefined; round?: number | undefined; seq: number },
  { content, toolCalls = [] }: Shown,
): Json | undefined {
  switch (type) {
    case 'turn.started':
      return { turn, seq, text: preview(content, SHOWN.message) }
    case 'message.completed': {
      const calls = toolCalls.map(({ id, name, arguments: args }) => {
        return { callId: id, name, arguments: preview(args) }
      })
      return { turn, round, seq, text: preview(content, SHOWN.message), calls }
    }
    case 'tool.status':
      return { turn, seq, result: preview(content) }
    case 'turn.completed':
      return { turn, text: preview(content) }
  }
  return undefined
}

/**
 * Shortens an outcome. A shortened outcome does not name its generation, because its row does; an outcome that names it is
 * whole.
 */
export function keepOutcome(outcome: unknown, gen: number, records: readonly Written[]): unknown {
  if (!isObject(outcome) || outcome['gen'] !== gen) return outcome
  const told = outcomeOf(outcome, gen, records)
  if (!told) return outcome
  const kept = without(outcome, told)
  return isDeepStrictEqual(withTold(kept, told), outcome) ? kept : outcome
}

/** @param records were written by the outcome's step */
export function wholeOutcome(
  outcome: unknown,
  gen: number,
  records: readonly { seq: number; message: Shown }[] | null,
): unknown {
  if (!isObject(outcome) || 'gen' in outcome) return outcome
  const told = outcomeOf(outcome, gen, records ?? [])
  return told ? withTold(outcome, told) : outcome
}

/** The part of a step's outcome that its row or its records hold already. */
function outcomeOf(
  { kind, stopReason }: Json,
  gen: number,
  records: readonly { seq: number; message: Shown }[],
): Json | undefined {
  const [first, last] = [records[0], records.at(-1)]
  if (!first || !last) return undefined
  const { content, toolCalls = [] } = first.message
  if (kind === 'settled') return { gen, preview: preview(content) }
  if (kind !== 'answered') return undefined
  const asked = stopReason === undefined ? toolCalls : []
  const calls = asked.map(({ id, name, arguments: args }) => {
    // The beginning of the arguments is enough for a preview.
    return {
      id,
      name: brief(name, SHOWN.callName),
      preview: brief(args.slice(0, SHOWN.arguments + 1), SHOWN.arguments),
    }
  })
  return { gen, seq: last.seq, text: preview(content), calls }
}

/** @param text the text that a turn ends with @returns the record that holds it */
export function answerOf(text: string | undefined, records: readonly Written[]): Written | undefined {
  return text === undefined ? undefined : records.findLast(({ message, whole }) => (whole ?? message.content) === text)
}

/** Removes what is told elsewhere. In lists, such as calls, it does so for each item. */
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

function isList(value: unknown): value is Json[] {
  return Array.isArray(value) && value.every(isObject)
}
