/** Turns a model's completion into the records, events, usage and outcome of its step. */
import { CallIds, isLegalName, toLegalName } from '../../core/call-ids.ts'
import { cleanJson } from '../../core/clean.ts'
import { brief, preview, type ToolCall, type Usage } from '../../core/message.ts'
import type { SessionTools } from '../../agent/tool-list.ts'
import type { Completion } from '../../core/model.ts'
import type { CallRef, ModelAnswer, ModelOutcome, StopReason } from '../../protocol/steps.ts'
import { newEvent, type NewEvent } from '../../protocol/events.ts'
import { nextRecord } from '../../store/ledger/hashes.ts'
import type { NewRecord } from '../../store/ledger/writes.ts'
import { titled } from '../tool/call-names.ts'
import type { Ending } from '../step/end-step.ts'
import { endCalls } from './last-answer.ts'
import type { Answering } from './answering.ts'
import { SHOWN } from '../../protocol/limits.ts'

/** How many calls of one answer are accepted: more would not fit into the workflow's state. */
export const CALLS_LIMIT = 128
/** How much is kept of a name that is not legal, in characters: enough for the model to recognise it. */
const WROTE_LIMIT = 200

export function toAnswer(answering: Answering): Ending<ModelOutcome> {
  const { input, claim, rootId, model, chain, completion } = answering
  const calls = takeCalls(answering)
  const next = nextRecord(chain, input.upTo + 1, {
    role: 'assistant',
    content: completion.content,
    ...(calls.length > 0 && { toolCalls: calls }),
    ...(completion.model !== undefined && { model: completion.model }),
    ...(completion.provider !== undefined && { provider: completion.provider }),
  })
  const answer: NewRecord = { ...next, ...(answering.density !== undefined && { density: answering.density }) }
  const last = input.last ? endCalls(answering, answer, calls) : { records: [], events: [] }
  const records = [answer, ...last.records]
  const stopReason = last.text === undefined ? stopReasonOf(completion, calls, input.last) : 'completed'
  const content = last.text ?? completion.content
  const usage = wholeTokens(completion.usage)
  const by = completion.model ?? model.name
  const outcome: ModelAnswer = {
    kind: 'answered',
    gen: claim.gen,
    seq: input.upTo + records.length,
    calls: stopReason ? [] : calls.map((call) => toRef(call, answering)),
    text: preview(content),
    usage,
    ...(stopReason && { stopReason }),
  }
  return {
    kind: 'settle',
    outcome,
    writes: {
      records,
      usage: { rootId, model: by, ...usage },
      events: events(answering, { answer, calls, by, usage, ended: last.events, content }, stopReason),
      ...(stopReason && { turns: [{ turn: input.turn, stopReason, text: content, rounds: input.round }] }),
    },
  }
}

/**
 * A model may invent names and ids. They are stored in a form that is legal for every provider, because they are sent again in every later
 * request. Texts are cleaned here already, because a step is claimed by its call's name and by a hash over the call.
 */
function takeCalls({ completion, input, deps, tools }: Answering): ToolCall[] {
  const { toolCalls } = completion
  if (toolCalls.length > CALLS_LIMIT) {
    deps.log.warn(`the model asked for ${toolCalls.length} calls at once; ${CALLS_LIMIT} are taken`, {
      sessionId: input.sessionId,
    })
  }
  const ids = new CallIds()
  return cleanJson(toolCalls.slice(0, CALLS_LIMIT)).map(({ id, name, arguments: args }) => ({
    id: ids.take(id),
    ...takeName(name, tools),
    arguments: args,
  }))
}

/** A name that is not legal never becomes the name of a tool, however much it looks like one. */
function takeName(wrote: string, tools: SessionTools): Pick<ToolCall, 'name' | 'wrote'> {
  if (isLegalName(wrote)) return { name: wrote }
  let name = toLegalName(wrote)
  while (tools.find(name)) name = toLegalName(`invalid ${name}`)
  return { name, wrote: preview(wrote, WROTE_LIMIT) }
}

/** Some models only estimate their tokens. */
export function wholeTokens({ inputTokens, outputTokens, cachedTokens, ...cost }: Usage): Usage {
  return {
    inputTokens: Math.round(inputTokens),
    outputTokens: Math.round(outputTokens),
    ...(cachedTokens !== undefined && { cachedTokens: Math.round(cachedTokens) }),
    ...cost,
  }
}

function stopReasonOf(completion: Completion, calls: ToolCall[], last: boolean): StopReason | undefined {
  if (calls.length > 0) return last ? 'max_tool_rounds' : undefined
  if (completion.finishReason === 'length') return 'max_tokens'
  return completion.finishReason === 'refusal' ? 'refused' : 'end_turn'
}

function toRef(call: ToolCall, { tools, titles, deps, config }: Answering): CallRef {
  const found = tools.find(call.name)
  const own = found && 'tool' in found ? found.tool.timeoutMs : undefined
  return {
    id: call.id,
    name: brief(call.name, SHOWN.callName),
    ...titled(titles, call.name),
    route: found && 'builtin' in found ? found.builtin.route : 'tool',
    ...(found && 'tool' in found && found.tool.ordered && { ordered: true as const }),
    preview: brief(call.arguments, SHOWN.arguments),
    timeoutMs: own ?? config.limits?.toolTimeoutMs ?? deps.agent.limits.toolTimeoutMs,
  }
}

interface Told {
  answer: NewRecord
  calls: ToolCall[]
  /** The model that answered. */
  by: string
  usage: Usage
  /** Results of calls that ended together with the answer. */
  ended: NewEvent[]
  /** The text that the turn ends with, if it ends. */
  content: string
}

function events(
  { input, completion, titles }: Answering,
  { answer, calls, by, usage, ended, content }: Told,
  stopReason?: StopReason,
): NewEvent[] {
  const { key, turn, round } = input
  const at = { turn, round }
  const completed = newEvent('message.completed', {
    of: [key],
    at,
    data: {
      turn,
      round,
      seq: answer.seq,
      text: preview(completion.content, SHOWN.message),
      calls: calls.map(({ id, name, arguments: args }) => {
        return { callId: id, name, ...titled(titles, name), arguments: preview(args) }
      }),
      model: by,
      usage,
    },
  })
  if (!stopReason) return [completed]
  const data = { turn, stopReason, text: preview(content) }
  return [completed, ...ended, newEvent('turn.completed', { of: [turn], at, data })]
}
