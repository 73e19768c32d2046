/**
 * The final state of a tree, in a form in which a disturbed run equals an undisturbed one. Session ids become labels,
 * durations are left out, and events are compared without their order, because the results of one round come in any
 * order.
 *
 * One thing may differ: if a worker died during a call of `pay`, the outcome is unknown, and the model was told so.
 * Such a result is counted, and replaced by the result of the undisturbed run.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Message } from '../../../src/core/message.ts'
import type { SessionHandle } from '../../../src/client/index.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { lookAt } from '../../../src/store/watching/event-log.ts'
import { persist, type Grown } from './grow.ts'
import { paid } from './plan.ts'

export interface Picture {
  /** By label. */
  sessions: Record<string, unknown>
  /** The message ids of the turns of each session, in order. The table holds none twice. */
  answered: Record<string, string[]>
  /** What was said in each session itself, in order, as often as its transcript holds it. */
  heard: Record<string, string[]>
  /** The calls of `pay` with an unknown outcome, as `session/step`. */
  unknown: string[]
}

const UNKNOWN = 'TOOL_OUTCOME_UNKNOWN'

type Data = Record<string, unknown>

export async function pictureOf(db: Database, { sessions }: Grown): Promise<Picture> {
  const unknown: string[] = []
  const labels = new Map([...sessions].map(([label, { id }]) => [id, label]))
  const pictures = await Promise.all(
    [...sessions].map(async ([label, session]) => {
      const lost = await unknownCalls(db, session.id)
      unknown.push(...lost.map(({ step_key }) => `${session.id}/${step_key}`))
      return [label, named(await portrait(db, session, lost.length), labels)] as const
    }),
  )
  const ofEach = async (read: typeof heardIn): Promise<Record<string, string[]>> =>
    Object.fromEntries(await Promise.all([...sessions].map(async ([label, { id }]) => [label, await read(db, id)])))
  return {
    sessions: Object.fromEntries(pictures),
    answered: await ofEach(answeredIn),
    heard: await ofEach(heardIn),
    unknown,
  }
}

async function portrait(db: Database, session: SessionHandle, lost: number): Promise<object> {
  const rows = async <T extends object>(sql: string): Promise<T[]> => (await db.pool.query<T>(sql, [session.id])).rows
  const messages = await session.transcript()
  const events = await eventsOf(db, session.id)
  const { totals, tools } = await persist(() => session.stats())
  return {
    row: await rows(
      `select parent_id, root_id, branch_session, branch_gen, branch_seq, depth, label, profile, gen, pause,
         closed_at is not null as closed from sessions where id = $1`,
    ),
    transcript: messages.map((message) => restored(message, placeOf(messages, message.toolCallId))),
    turns: await rows(
      `select gen, turn, message_id, status, stop_reason, text, rounds, start_seq from turns
       where session_id = $1 order by gen, turn`,
    ),
    steps: await rows(
      `select gen, step_key, kind, name, outcome is not null as settled from steps
       where session_id = $1 and kind in ('model', 'tool', 'child') order by gen, step_key`,
    ),
    usage: await rows(`select gen, step_key, usage from usage where session_id = $1 order by gen, step_key`),
    events: events.map(({ type, data }) => ({ type, ...restoredEvent(data, placeOf(messages, data['callId'])) })),
    totals,
    tools: tools
      .map(({ toolName, executionCount, successCount, failureCount }) => {
        const known = toolName === 'pay' ? lost : 0
        return { toolName, executionCount, successCount: successCount + known, failureCount: failureCount - known }
      })
      .toSorted((a, b) => a.toolName.localeCompare(b.toolName)),
  }
}

/** As watchers see them. The table of events does not repeat what a record says. */
async function eventsOf(db: Database, sessionId: string): Promise<{ type: string; data: Data }[]> {
  const { sessions, more } = await lookAt(db, new Map([[sessionId, 0]]), { live: false, page: 100_000 })
  if (more) throw new Error(`${sessionId} has more events than were read`)
  return sessions.flatMap(({ events }) =>
    // Each kill leaves some of them. An undisturbed run has none.
    events.filter(({ type }) => type !== 'step.taken_over').map(({ type, data }) => ({ type, data: { ...data } })),
  )
}

async function answeredIn({ pool }: Database, sessionId: string): Promise<string[]> {
  const sql = `select message_id from turns where session_id = $1 and status = 'ended' order by gen, turn`
  return (await pool.query<{ message_id: string }>(sql, [sessionId])).rows.map((row) => row.message_id)
}

/** Its own records, without those that it inherits. */
async function heardIn({ pool }: Database, sessionId: string): Promise<string[]> {
  const sql = `select message->>'content' as text from records
    where session_id = $1 and message->>'role' = 'user' order by gen, seq`
  return (await pool.query<{ text: string }>(sql, [sessionId])).rows.map((row) => row.text)
}

async function unknownCalls({ pool }: Database, sessionId: string): Promise<{ step_key: string }[]> {
  const sql = `select step_key from steps where session_id = $1 and name = 'pay' and outcome->>'code' = $2`
  return (await pool.query<{ step_key: string }>(sql, [sessionId, UNKNOWN])).rows
}

/** The place of a call in the conversation, which decides its result. */
function placeOf(messages: readonly Message[], callId: unknown): string {
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls)
  const call = calls.findLast(({ id }) => id === callId)
  return call ? ((JSON.parse(call.arguments) as { place?: string }).place ?? '') : ''
}

function restored(message: Message, place: string): Message {
  if (message.role !== 'tool' || !message.content.startsWith(UNKNOWN)) return message
  const { isError: _unknown, ...rest } = message
  return { ...rest, content: paid(place) }
}

function restoredEvent({ durationMs: _any, ...data }: Data, place: string): Data {
  if (data['code'] !== UNKNOWN) return data
  const { code: _unknown, ...rest } = data
  return { ...rest, status: 'SUCCESS', result: paid(place), params: { place } }
}

/** Ids become labels first, because events are sorted by their text. */
function named(portrait: object, labels: Map<string, string>): object {
  let text = JSON.stringify(portrait)
  for (const [id, label] of labels) text = text.replaceAll(id, `<${label}>`)
  const { events, ...rest } = JSON.parse(text) as { events: object[] }
  const sorted = (event: object): object =>
    Object.fromEntries(Object.entries(event).toSorted(([a], [b]) => a.localeCompare(b)))
  return { ...rest, events: events.map((event) => JSON.stringify(sorted(event))).toSorted() }
}

/** The offsets of each session, in the log and at the watcher: from 0, without a gap, each once. */
export async function gapsIn(db: Database, { sessions, seen }: Grown): Promise<string[]> {
  const wrong: string[] = []
  for (const [label, { id }] of sessions) {
    const { rows } = await db.pool.query<{ offset: number }>(
      'select "offset" from events where session_id = $1 order by "offset"',
      [id],
    )
    const whole = rows.map((_, n) => n)
    const logged = rows.map(({ offset }) => offset)
    const watched = seen.filter(({ sessionId }) => sessionId === id).map(({ offset }) => offset)
    if (!isDeepStrictEqual(logged, whole)) wrong.push(`the log of ${label}: ${logged.join(' ')}`)
    if (!isDeepStrictEqual(watched, whole)) wrong.push(`what was seen of ${label}: ${watched.join(' ')}`)
  }
  return wrong
}
