/** What OpenAI refuses in a request to the Responses API, in its words. Nothing is stored: every item must come whole. */
import type { ResponseInputItem, ResponseReasoningItem } from 'openai/resources/responses/responses'
import { Refusal } from './fake-protocol.ts'
import { itemsOf, type ResponsesRequest } from './responses-request.ts'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const ID_LIMIT = 64

export class ResponsesRules {
  readonly #reasons: boolean
  /** The reasoning that led to a call, by model and id of the call. Scripts may use an id again. */
  readonly #reasonOf = new Map<string, Set<string>>()

  constructor(reasons: boolean) {
    this.#reasons = reasons
  }

  /** A model has made a call after thinking. */
  made(model: string, callId: string, reasoningId: string): void {
    const key = `${model} ${callId}`
    this.#reasonOf.set(key, (this.#reasonOf.get(key) ?? new Set()).add(reasoningId))
  }

  /** @throws Refusal */
  check(body: ResponsesRequest): void {
    const { model = '', include, temperature, prompt_cache_key: cacheKey, previous_response_id: previous, tools } = body
    const items = itemsOf(body)
    if (previous) throw new Refusal(`Previous response with id '${previous}' not found.`)
    if (!this.#reasons && include?.includes('reasoning.encrypted_content')) {
      throw new Refusal('Encrypted content is not supported with this model.')
    }
    if (!this.#reasons && body.reasoning) {
      throw new Refusal("Unsupported parameter: 'reasoning.effort' is not supported with this model.")
    }
    if (this.#reasons && temperature !== undefined) {
      throw new Refusal("Unsupported parameter: 'temperature' is not supported with this model.")
    }
    checkLength('prompt_cache_key', cacheKey ?? '')
    for (const [i, tool] of (tools ?? []).entries()) if ('name' in tool) checkName(`tools[${i}].name`, tool.name)
    for (const [i, item] of items.entries()) checkItem(item, i, model)
    checkPairs(items)
    this.#checkReasons(items, model)
  }

  /** Reasoning stands in front of what it led to, within one answer. */
  #checkReasons(items: readonly ResponseInputItem[], model: string): void {
    const thought = new Set<string>()
    for (const [i, item] of items.entries()) {
      if (item.type === 'reasoning') {
        thought.add(item.id)
        const next = items[i + 1]
        if (next && (next.type === 'reasoning' || next.type === 'function_call' || isAnswer(next))) continue
        throw new Refusal(`Item '${item.id}' of type 'reasoning' was provided without its required following item.`)
      }
      if (item.type === 'function_call') {
        const reasons = this.#reasonOf.get(`${model} ${item.call_id}`)
        if (!reasons || [...reasons].some((id) => thought.has(id))) continue
        const [missing] = reasons
        throw new Refusal(
          `Item '${item.id ?? item.call_id}' of type 'function_call' was provided without its required 'reasoning' item: '${missing}'.`,
        )
      }
      if (!isAnswer(item)) thought.clear()
    }
  }
}

/** Only who made it can read it. */
export function encrypt(id: string, model: string): string {
  return `gAAAAA${Buffer.from(JSON.stringify({ id, model })).toString('base64url')}`
}

function isAnswer(item: ResponseInputItem): boolean {
  return 'role' in item && item.role === 'assistant'
}

function checkItem(item: ResponseInputItem, i: number, model: string): void {
  if (item.type === 'item_reference') throw notFound(item.id)
  if (item.type === 'reasoning') checkReasoning(item, i, model)
  if (item.type === 'function_call') {
    checkName(`input[${i}].name`, item.name)
    checkLength(`input[${i}].call_id`, item.call_id)
  }
}

function checkReasoning(item: ResponseReasoningItem, i: number, model: string): void {
  const { id, encrypted_content: encrypted } = item
  if ('status' in item) throw new Refusal(`Unknown parameter: 'input[${i}].status'.`)
  if (!encrypted) throw notFound(id)
  if (encrypted !== encrypt(id, model)) {
    throw new Refusal(`The encrypted content for item ${id} could not be verified.`, {
      code: 'invalid_encrypted_content',
    })
  }
}

/** Every call has one result behind it, and no result is without a call. */
function checkPairs(items: readonly ResponseInputItem[]): void {
  const open = new Set<string>()
  const calls = new Set<string>()
  for (const item of items) {
    if (item.type === 'function_call') {
      if (calls.has(item.call_id)) throw new Refusal(`Duplicate function call with call_id ${item.call_id}.`)
      calls.add(item.call_id)
      open.add(item.call_id)
    }
    if (item.type === 'function_call_output' && !open.delete(item.call_id)) {
      throw new Refusal(`No tool call found for function call output with call_id ${item.call_id}.`)
    }
  }
  for (const id of open) throw new Refusal(`No tool output found for function call ${id}.`)
}

function checkName(where: string, name: string): void {
  if (NAME.test(name)) return
  throw new Refusal(
    `Invalid '${where}': string does not match pattern. Expected a string that matches '${NAME.source}'.`,
  )
}

function checkLength(where: string, text: string): void {
  if (text.length <= ID_LIMIT) return
  throw new Refusal(
    `Invalid '${where}': string too long. Expected a string with maximum length ${ID_LIMIT}, but got a string with length ${text.length} instead.`,
    { code: 'string_above_max_length' },
  )
}

function notFound(id: string): Refusal {
  return new Refusal(`Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`)
}
