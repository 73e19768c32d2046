/** Sessions whose conversations are too long for their model, and a model that counts what it is asked. */
import { compact } from '../../src/activities/compaction/compact.ts'
import { callModel } from '../../src/activities/model/call-model.ts'
import type { Deps } from '../../src/activities/deps.ts'
import type { AgentDefinition } from '../../src/agent/agent.ts'
import type { Message } from '../../src/core/message.ts'
import type { Completion, Model } from '../../src/core/model.ts'
import type { CallModelInput, CompactInput, CompactOutcome, ModelOutcome } from '../../src/protocol/steps.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import type { Database } from '../../src/store/database/database.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, write } from './fixtures.ts'

export const SUMMARY = 'The user wants a report. Found: rain in Oslo (look).'
export const WORDS = 'some words that are said over and over again in this long talk. '

/** Asked for a summary, or for an answer. */
export interface Asked {
  summary: boolean
  messages: Message[]
}

export interface Fake {
  llm: Model
  asked: Asked[]
  summaries(): number
  answers(): number
}

export type Reply = (asked: Asked) => Partial<Completion> | Promise<Partial<Completion>>

export function fake(reply: Reply = () => ({}), window?: number): Fake {
  const asked: Asked[] = []
  const usage = { inputTokens: 0, outputTokens: 7 }
  const llm: Model = {
    name: 'm',
    ...(window !== undefined && { contextWindow: window }),
    async complete(messages) {
      const summary = messages[0]?.content.startsWith('You write the memory') ?? false
      const one = { summary, messages }
      asked.push(one)
      const content = summary ? SUMMARY : 'fine'
      return { content, toolCalls: [], usage, finishReason: 'stop', ...(await reply(one)) }
    },
  }
  const count = (summary: boolean): number => asked.filter((one) => one.summary === summary).length
  return { llm, asked, summaries: () => count(true), answers: () => count(false) }
}

/** That many exchanges. Each message has about `tokens` tokens. */
export function talk(turns: number, tokens = 100): Message[] {
  const long = WORDS.repeat(Math.ceil((tokens * 4) / WORDS.length))
  return Array.from({ length: turns }, (_, i): Message[] => [
    { role: 'user', content: `question ${i + 1} ${long}` },
    { role: 'assistant', content: `answer ${i + 1} ${long}` },
  ]).flat()
}

export function rounds(count: number, tokens = 100): Message[] {
  const long = WORDS.repeat(Math.ceil((tokens * 4) / WORDS.length))
  return Array.from({ length: count }, (_, i): Message[] => [
    { role: 'assistant', content: '', toolCalls: [{ id: `c${i}`, name: 'look', arguments: '{}' }] },
    { role: 'tool', content: `result ${i} ${long}`, toolCallId: `c${i}`, name: 'look' },
  ]).flat()
}

/** The model call of the turn whose question is the last record. */
export function nextCall(run: RunRef, upTo: number, over: Partial<CallModelInput> = {}): CallModelInput {
  const base = { sessionId: run.sessionId, gen: 0, turn: 9, base: upTo, place: placeAt(upTo), messageId: 'm', upTo }
  return { ...base, key: 'm9.1', round: 1, last: false, ...over }
}

export function compaction(run: RunRef, upTo: number, over: Partial<CompactInput> = {}): CompactInput {
  const { key: _key, ...call } = nextCall(run, upTo)
  const { messageId: _id, last: _last, ...input } = call
  return { ...input, key: 'c1', refusals: 0, ...over }
}

export async function sessionWith(
  db: Database,
  messages: Message[],
  settings: Omit<AgentDefinition, 'name'>,
): Promise<{
  deps: Deps
  run: RunRef
  call(over?: Partial<CallModelInput>): Promise<ModelOutcome>
  compact(over?: Partial<CompactInput>): Promise<CompactOutcome>
  events(): Promise<unknown[]>
}> {
  const run = await openSession(db)
  await write(db, run, 'a', 1, messages)
  const deps = depsOf(db, settings)
  return {
    deps,
    run,
    call: (over) => attempt(run, () => callModel(deps, nextCall(run, messages.length, over))),
    compact: (over) => attempt(run, () => compact(deps, compaction(run, messages.length, over))),
    async events() {
      const sql = `select data from events where session_id = $1 and type = 'transcript.compacted' order by "offset"`
      return (await db.pool.query<{ data: unknown }>(sql, [run.sessionId])).rows.map(({ data }) => data)
    },
  }
}
