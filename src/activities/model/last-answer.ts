/**
 * The calls of an answer beyond the round limit. None of them runs, but each gets a result, because every provider
 * refuses an unanswered call. The first `attempt_completion` counts, because it only says what the answer is.
 */
import { StelloError } from '../../core/errors.ts'
import type { ToolCall } from '../../core/message.ts'
import type { NewEvent } from '../../protocol/events.ts'
import { callKey } from '../../protocol/keys.ts'
import { nextRecord } from '../../store/ledger/hashes.ts'
import type { NewRecord } from '../../store/ledger/writes.ts'
import { runBuiltin } from '../tool/execute.ts'
import { titled } from '../tool/call-names.ts'
import type { Answering } from './answering.ts'
import { parseArguments } from '../tool/parse-arguments.ts'
import { settlement, type CallEnd } from '../tool/finish.ts'

export interface LastAnswer {
  /** The results, in call order. */
  records: NewRecord[]
  events: NewEvent[]
  /** The text that ends the turn, if a call completed it. */
  text?: string
}

/** @param answer the record of the answer */
export function endCalls(answering: Answering, answer: NewRecord, calls: readonly ToolCall[]): LastAnswer {
  const { input, claim } = answering
  const ends = calls.map((call) => completionOf(answering, call))
  const completing = ends.findIndex((end) => end !== undefined)
  const events: NewEvent[] = []
  let text: string | undefined
  const records = calls.map((call, index): NewRecord => {
    const seq = answer.seq + 1 + index
    const end = index === completing ? ends[index] : undefined
    if (!end) return refuse(call, { chain: answer.chain, seq, rounds: input.round })
    const key = callKey({ turn: input.turn, round: input.round, index })
    const settled = settlement({
      input: {
        ...input,
        key,
        index,
        seq,
        call: { id: call.id, name: call.name, ...titled(answering.titles, call.name) },
      },
      claim,
      chain: answer.chain,
      durationMs: 0,
      end,
    })
    events.push(...(settled.writes.events ?? []))
    const [record] = settled.writes.records ?? []
    if (!record) throw new Error(`call ${key} was settled without a record`)
    text = record.whole ?? record.message.content
    return record
  })
  return { records, events, ...(text !== undefined && { text }) }
}

function completionOf({ tools, deps }: Answering, call: ToolCall): CallEnd | undefined {
  const found = tools.find(call.name)
  if (call.name !== 'attempt_completion' || !found || !('builtin' in found)) return undefined
  const parsed = parseArguments(call, found.builtin.check)
  return parsed.ok ? runBuiltin(call.name, parsed.value, deps.agent) : undefined
}

function refuse(call: ToolCall, { chain, seq, rounds }: { chain: string; seq: number; rounds: number }): NewRecord {
  const limit = `not run, the limit of ${rounds} tool rounds for this message is reached`
  const { code, message } = new StelloError('TOOL_ROUND_LIMIT', limit)
  return nextRecord(chain, seq, {
    role: 'tool',
    toolCallId: call.id,
    name: call.name,
    isError: true,
    content: `${code}: ${message}`,
  })
}
