/**
 * Reads the answer of a model once: a model of user code may return anything. The result is plain data of bounded size,
 * so no later code has to check it again.
 */
import { AnswerSize } from './answer-size.ts'
import { StelloError, isStelloError, messageOf } from '../../core/errors.ts'
import { NAME_LIMIT, preview, type ProviderData, type ToolCall, type Usage } from '../../core/message.ts'
import { isObject } from '../../core/is-object.ts'
import type { Completion } from '../../core/model.ts'

const FINISH_REASONS: readonly unknown[] = ['stop', 'tool_calls', 'length', 'refusal']
/** Largest number of tokens or dollars: a sum of many such numbers is still exact enough. */
const MOST = 1e12
/** Longest provider data of one answer, in UTF-16 units of JSON: encrypted reasoning of a long answer takes a tenth of it. */
const PROVIDER_DATA_LIMIT = 1024 * 1024

/**
 * The checked copy of what `complete` returned.
 *
 * @param model its name, for the error
 * @throws StelloError MODEL_BAD_ANSWER naming the field
 * @example toCompletion({ content: 'hi', toolCalls: [], usage, finishReason: 'stop' }, 'gpt-x')
 */
export function toCompletion(given: unknown, model: string): Completion {
  try {
    return read(given, model)
  } catch (error) {
    if (isStelloError(error)) throw error
    throw new StelloError('MODEL_BAD_ANSWER', `model ${model}: its answer cannot be read: ${messageOf(error)}`)
  }
}

function read(given: unknown, model: string): Completion {
  const { content, toolCalls, usage, finishReason, model: answered, provider } = fieldsOf(given, 'an answer', model)
  if (typeof content !== 'string') throw bad(model, 'content', { expected: 'text', given: content })
  if (!Array.isArray(toolCalls)) throw bad(model, 'toolCalls', { expected: 'a list', given: toolCalls })
  if (!FINISH_REASONS.includes(finishReason)) {
    throw bad(model, 'finishReason', { expected: `one of ${FINISH_REASONS.join(', ')}`, given: finishReason })
  }
  if (answered !== undefined && typeof answered !== 'string')
    throw bad(model, 'model', { expected: 'text', given: answered })
  const size = new AnswerSize(model)
  size.add(content)
  const calls = Array.from({ length: toolCalls.length }, (_, index) => {
    const call = toCall(toolCalls[index], index, model)
    size.add(call.id, call.name, call.arguments)
    return call
  })
  return {
    content,
    toolCalls: calls,
    usage: toUsage(usage, model),
    finishReason: finishReason as Completion['finishReason'],
    ...(answered && { model: preview(answered, NAME_LIMIT) }),
    ...(provider !== undefined && { provider: toProviderData(provider, model) }),
  }
}

function toCall(given: unknown, index: number, model: string): ToolCall {
  const where = `toolCalls[${index}]`
  const { id, name, arguments: args } = fieldsOf(given, where, model)
  if (typeof id !== 'string') throw bad(model, `${where}.id`, { expected: 'text', given: id })
  if (typeof name !== 'string') throw bad(model, `${where}.name`, { expected: 'text', given: name })
  if (typeof args !== 'string') throw bad(model, `${where}.arguments`, { expected: 'text (JSON)', given: args })
  return { id, name, arguments: args }
}

/** The copy is plain JSON, as it will come back from the store. */
function toProviderData(given: unknown, model: string): ProviderData {
  if (!isObject(given)) throw bad(model, 'provider', { expected: 'an object of JSON', given })
  const json = JSON.stringify(given)
  if (json.length > PROVIDER_DATA_LIMIT) {
    throw bad(model, 'provider', { expected: `at most ${PROVIDER_DATA_LIMIT} characters of JSON`, given: json.length })
  }
  return JSON.parse(json) as ProviderData
}

function toUsage(given: unknown, model: string): Usage {
  const { inputTokens, outputTokens, cachedTokens, costUsd } = fieldsOf(given, 'usage', model)
  const number = (value: unknown, field: string): number => {
    if (typeof value === 'number' && value >= 0 && value <= MOST) return value
    throw bad(model, `usage.${field}`, { expected: 'a number of 0 or more', given: value })
  }
  return {
    inputTokens: number(inputTokens, 'inputTokens'),
    outputTokens: number(outputTokens, 'outputTokens'),
    ...(cachedTokens !== undefined && { cachedTokens: number(cachedTokens, 'cachedTokens') }),
    ...(costUsd !== undefined && { costUsd: number(costUsd, 'costUsd') }),
  }
}

function fieldsOf(given: unknown, what: string, model: string): Partial<Record<string, unknown>> {
  if (typeof given === 'object' && given !== null) return given as Partial<Record<string, unknown>>
  throw bad(model, what, { expected: 'an object', given })
}

function bad(model: string, where: string, { expected, given }: { expected: string; given: unknown }): StelloError {
  return new StelloError('MODEL_BAD_ANSWER', `model ${model}: ${where} must be ${expected}, not ${nameOf(given)}`, {
    hint: 'correct the return value of its complete(), restart the worker, then resume the session',
  })
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return String(value)
  return Array.isArray(value) ? 'a list' : typeof value
}
