/** The size of a turn in the store: its text is stored once, in the records, and everything else refers to it. */
import { expect, it } from 'vitest'
import { callModel } from '../../src/activities/model/call-model.ts'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import { defineSimpleTool } from '../../src/tool/compat.ts'
import type { Completion } from '../../src/core/model.ts'
import type { CallModelInput, ModelAnswer, Place } from '../../src/protocol/steps.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { readTurnNow } from '../../src/store/transcript/turns.ts'
import { preview } from '../../src/core/message.ts'
import { readEvents } from '../support/events.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

/** Letters that cannot be compressed, so that PostgreSQL stores them as they are. */
function noise(length: number): string {
  let state = length
  const next = (): string => {
    state = (state * 48_271) % 2_147_483_647
    return String.fromCharCode(33 + (state % 90)).replace(/["\\]/, 'x')
  }
  return Array.from({ length }, next).join('')
}

const QUESTION = noise(2000)
const ASKED = noise(700)
const ARGUMENTS = [500, 501].map((length) => JSON.stringify({ text: noise(length) }))
const RESULTS = [1500, 1501]
const ANSWER = noise(3000)
const TEXT = [QUESTION, ASKED, ...ARGUMENTS, ANSWER].join('').length + RESULTS.reduce((sum, n) => sum + n)

const usage = { inputTokens: 1200, outputTokens: 340 }
const calls = ARGUMENTS.map((text, i) => ({ id: `call-${i}`, name: 'look', arguments: text }))
const completions: Completion[] = [
  { content: ASKED, toolCalls: calls, usage, finishReason: 'tool_calls' },
  { content: ANSWER, toolCalls: [], usage, finishReason: 'stop' },
]

interface Turn {
  run: RunRef
  outcomes: unknown[]
  /** Asks for the last step once more. */
  again: (run: RunRef) => Promise<unknown>
}

/** One turn as its activities write it: two calls in the first round, an answer in the second. */
async function turn(): Promise<Turn> {
  let asked = 0
  const look = defineSimpleTool({
    name: 'look',
    description: 'd',
    effect: 'pure',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    execute: (args) => noise(RESULTS[ARGUMENTS.indexOf(JSON.stringify(args))] ?? 0),
  })
  const complete = (): Promise<Completion> => Promise.resolve(completions[asked++] as Completion)
  const deps = depsOf(at.db, { llm: { name: 'gpt', complete }, capabilities: { tools: [look] } })
  const run = await openSession(at.db)
  const { sessionId } = run
  const common = { sessionId, gen: 0, turn: 1, messageId: 'message-1' }
  const placeIn = ({ base, round }: Pick<CallModelInput, 'base' | 'round'>): Place => ({ ...placeAt(base), round })
  const ask = (
    by: RunRef,
    input: Pick<CallModelInput, 'key' | 'base' | 'round' | 'upTo' | 'opening'>,
  ): Promise<unknown> => attempt(by, () => callModel(deps, { ...common, place: placeIn(input), last: false, ...input }))
  const opening = { messageId: 'message-1', text: QUESTION }
  const outcomes = [await ask(run, { key: 'm1.0', base: 0, round: 0, upTo: 1, opening })]
  for (const [index, call] of (outcomes[0] as ModelAnswer).calls.entries()) {
    const input = { ...common, key: `t1.0.${index}`, base: 2, place: placeAt(2), round: 0, index, call, seq: 3 + index }
    outcomes.push(await attempt(run, () => callTool(deps, input)))
  }
  const again = (by: RunRef): Promise<unknown> => ask(by, { key: 'm1.1', base: 4, round: 1, upTo: 4 })
  return { run, outcomes: [...outcomes, await again(run)], again }
}

/** What each table holds beside its keys. The keys of a row take the same space whatever is said in it. */
const CONTENT = {
  records: 'message, whole',
  events: 'data',
  steps: 'outcome, pending',
  turns: 'text',
  usage: 'usage',
  messages: 'body',
}

it('takes at most 1.3 times its text, and with all keys, numbers and times 1.5 times, in 18 rows', async () => {
  const { sessionId } = (await turn()).run
  const taken = { content: 0, all: 0, rows: 0 }
  for (const [table, columns] of Object.entries(CONTENT)) {
    const sizes = columns.split(', ').map((column) => `coalesce(pg_column_size(${column}), 0)`)
    const { rows } = await at.db.pool.query<typeof taken>(
      `select coalesce(sum(${sizes.join(' + ')}), 0)::int as content, coalesce(sum(pg_column_size(t.*)), 0)::int as all,
         count(*)::int as rows from ${table} t where session_id = $1`,
      [sessionId],
    )
    for (const row of rows) for (const what of ['content', 'all', 'rows'] as const) taken[what] += row[what]
  }
  expect(TEXT).toBeGreaterThan(9_600)
  expect(taken.content / TEXT).toBeLessThan(1.3)
  expect(taken.all / TEXT).toBeLessThan(1.5)
  expect(taken.rows).toBe(18)
})

it('is read whole all the same: by watchers, by the one who waits for the answer, by another attempt, and in another generation', async () => {
  const { run, outcomes, again } = await turn()
  const { sessionId } = run
  const told = [
    { type: 'turn.started', data: { turn: 1, messageId: 'message-1', seq: 1, text: QUESTION } },
    {
      type: 'message.completed',
      data: {
        turn: 1,
        round: 0,
        seq: 2,
        text: ASKED,
        model: 'gpt',
        usage,
        calls: calls.map(({ id, name, arguments: args }) => ({ callId: id, name, arguments: args })),
      },
    },
    ...RESULTS.map((length, i) => {
      const data = { turn: 1, seq: 3 + i, callId: `call-${i}`, name: 'look', result: preview(noise(length)) }
      return { type: 'tool.status', data: expect.objectContaining({ ...data, status: 'SUCCESS' }) as unknown }
    }),
    {
      type: 'message.completed',
      data: { turn: 1, round: 1, seq: 5, text: ANSWER, model: 'gpt', usage, calls: [] },
    },
    { type: 'turn.completed', data: { turn: 1, stopReason: 'end_turn', text: preview(ANSWER) } },
  ]
  const seen = async (): Promise<unknown[]> =>
    (await readEvents(at.db, sessionId, 0)).map(({ type, data }) => ({ type, data }))
  expect(await seen()).toEqual(told)
  expect(await readTurnNow(at.db, sessionId, 'message-1')).toMatchObject({ turn: { text: ANSWER } })
  expect(outcomes).toMatchObject([
    { kind: 'answered', gen: 0, seq: 2, text: ASKED, calls: calls.map(({ id, name }) => ({ id, name })) },
    { kind: 'settled', gen: 0, preview: preview(noise(1500)) },
    { kind: 'settled', gen: 0, preview: preview(noise(1501)) },
    { kind: 'answered', gen: 0, seq: 5, text: preview(ANSWER), calls: [] },
  ])
  expect(await again(run)).toEqual(outcomes[3])

  const reset: RunRef = { ...run, runId: 'run-2' }
  expect(await again(reset)).toEqual({ ...(outcomes[3] as ModelAnswer), gen: 1 })
  expect(await readTurnNow(at.db, sessionId, 'message-1')).toMatchObject({ turn: { gen: 1, text: ANSWER } })
  const rewound = { type: 'session.rewound', data: { generation: 1, seq: 4, turn: 1 } }
  expect(await seen()).toEqual([...told.slice(0, 4), rewound, ...told.slice(4)])
})
