/**
 * The final state of a session and its forks, without what may differ from run to run: ids, times, durations. With it,
 * a session that was disturbed is compared with a session that was not.
 */
import { expect } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import type { SessionHandle, SessionStats, SessionTree, StelloClient } from '../../src/client/index.ts'
import type { Database } from '../../src/store/database/database.ts'
import { nextOffsets } from '../../src/store/watching/event-log.ts'
import type { FakeOpenAI } from '../../src/testing/index.ts'
import type { Doors } from './crashing.ts'
import { viewOf } from './settled.ts'
import { readEvents } from './events.ts'

export interface Chapter {
  label: string
  state: string
  depth: number
  transcript: Message[]
  /** Message, stop reason, answer and rounds of each turn. */
  turns: unknown[]
  events: { type: string; data: Record<string, unknown> }[]
  stats: Record<string, unknown>
  children: Chapter[]
}

export interface Story {
  chapter: Chapter
  /** For each step, how often the provider was asked, and how often user code was called. */
  asked: Record<string, number>
  called: Record<string, number>
}

export interface Witnesses {
  client: StelloClient
  db: Database
  fake: FakeOpenAI
  doors: Doors
}

export async function readStory(witnesses: Witnesses, session: SessionHandle): Promise<Story> {
  const { client, db, fake, doors } = witnesses
  const names = new Map<string, string>()
  const nameAll = (tree: SessionTree, path: string): void => {
    names.set(tree.id, path)
    for (const child of tree.children) nameAll(child, `${path}/${child.label}`)
  }
  const tree = await session.tree()
  nameAll(tree, 'main')
  const unnamed = <T>(value: T): T =>
    JSON.parse([...names].reduce((text, [id, path]) => text.replaceAll(id, path), JSON.stringify(value))) as T
  const chapter = unnamed(await readChapter(client, db, tree))
  const count = (keys: string[]): Record<string, number> => {
    const counts: Record<string, number> = {}
    for (const key of new Set(keys)) {
      const [id = '', step = 'hook'] = key.split(':')
      const name = `${names.get(id)} ${step}`
      if (!names.has(id)) continue
      // A step that is repeated must have the same key. With two keys, a provider would take it for two different
      // calls.
      expect(counts, `two keys for ${name}`).not.toHaveProperty([name])
      counts[name] = keys.filter((each) => each === key).length
    }
    return counts
  }
  return {
    chapter,
    asked: count(fake.requests.map(({ headers }) => String(headers['idempotency-key']))),
    called: count(doors.knocks.map(({ key }) => key)),
  }
}

async function readChapter(client: StelloClient, db: Database, tree: SessionTree): Promise<Chapter> {
  const { id, label, state, depth, children } = tree
  const session = client.session(id)
  // The store knows the end of a turn a moment before the workflow does.
  await viewOf(client, session, ({ status, queued }) => queued === 0 && (status === 'idle' || status === 'closed'))
  const events = await readEvents(db, id, 0)
  const offsets = events.map(({ offset }) => offset)
  expect(offsets, `offsets of ${label}`).toEqual(offsets.map((_, n) => n))
  expect((await nextOffsets(db, [id])).get(id)).toBe(events.length)
  const { rows: turns } = await db.pool.query<Record<string, unknown>>(
    'select gen, turn, message_id, status, stop_reason, text, rounds from turns where session_id = $1 order by gen, turn',
    [id],
  )
  const { totals, tools } = await session.stats()
  const { rows: unsettled } = await db.pool.query('select * from steps where session_id = $1 and outcome is null', [id])
  expect(unsettled, `steps of ${label} without an outcome`).toEqual([])
  return {
    label,
    state,
    depth,
    transcript: await session.transcript(),
    turns,
    // The loss of workers is not part of what was said and done.
    events: inCallOrder(
      events
        .filter(({ type }) => type !== 'step.taken_over')
        .map(({ type, data }) => ({ type, data: withoutDuration(data) })),
    ),
    stats: { totals, tools: Object.fromEntries(tools.map((tool) => [tool.toolName, countsOf(tool)])) },
    children: await Promise.all(
      children.toSorted((a, b) => a.label.localeCompare(b.label)).map((child) => readChapter(client, db, child)),
    ),
  }
}

function withoutDuration(data: object): Record<string, unknown> {
  const { durationMs: _differs, ...rest } = data as Record<string, unknown>
  return rest
}

function countsOf({ executionCount, successCount, failureCount }: SessionStats['tools'][number]): unknown {
  return { executionCount, successCount, failureCount }
}

/** Calls of one round end in any order. */
function inCallOrder(events: Chapter['events']): Chapter['events'] {
  const isResult = (at: number): boolean => events[at]?.type === 'tool.status'
  const seq = ({ data }: Chapter['events'][number]): number => Number(data['seq'])
  return events.flatMap((event, at) => {
    if (!isResult(at)) return [event]
    if (isResult(at - 1)) return []
    const end = events.findIndex((_, i) => i > at && !isResult(i))
    return events.slice(at, end === -1 ? undefined : end).toSorted((a, b) => seq(a) - seq(b))
  })
}

function inAnyOrder(events: Chapter['events']): Chapter['events'] {
  return events.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
}

export interface Differences {
  /** Steps that were repeated (1) or never begun (-1). */
  asked?: Record<string, number>
  called?: Record<string, number>
  /** A tool whose outcome is unknown. Only its result may differ. */
  unknown?: string
  /** For a step that ends before a resume if nobody kills the worker, and after the resume otherwise. */
  order?: 'of events may differ'
}

/** The same conversation, tree, counts and events. No finished step was repeated. */
export function expectUndisturbed(actual: Story, undisturbed: Story, but: Differences = {}): void {
  const { unknown } = but
  if (unknown) {
    const results = actual.chapter.transcript.filter(({ role, name }) => role === 'tool' && name === unknown)
    expect(results.map(({ content }) => content.split(':')[0])).toEqual(results.map(() => 'TOOL_OUTCOME_UNKNOWN'))
  }
  const compared = (chapter: Chapter): Chapter => {
    const known = unknown ? blur(chapter, unknown) : chapter
    return but.order ? { ...known, events: inAnyOrder(known.events) } : known
  }
  expect(compared(actual.chapter)).toEqual(compared(undisturbed.chapter))
  expect(actual.asked).toEqual(plus(undisturbed.asked, but.asked))
  expect(actual.called).toEqual(plus(undisturbed.called, but.called))
}

function plus(counts: Record<string, number>, more: Record<string, number> = {}): Record<string, number> {
  const sum = { ...counts }
  for (const [name, n] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + n
  return Object.fromEntries(Object.entries(sum).filter(([, n]) => n !== 0))
}

function blur(chapter: Chapter, tool: string): Chapter {
  const { transcript, events, stats } = chapter
  return {
    ...chapter,
    transcript: transcript.map((message) =>
      message.role === 'tool' && message.name === tool ? { ...message, content: '', isError: true } : message,
    ),
    events: events.map(({ type, data }) => {
      if (type !== 'tool.status' || data['name'] !== tool) return { type, data }
      const { callId, name, turn, seq } = data
      return { type, data: { callId, name, turn, seq } }
    }),
    stats: { totals: stats['totals'] },
  }
}
