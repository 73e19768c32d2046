/**
 * The rules of providers that speak chat completions: what they refuse, in their words as far as these are known, and
 * what they give out and want back. A fake server that takes everything would hide what ends a session in production.
 */
import type { Completion } from '../core/model.ts'
import type { ChatRequest } from './chat-request.ts'
import { Refusal } from './fake-protocol.ts'

/** Whose rules a fake server enforces beside those that hold everywhere. */
export type ChatRules = 'openai' | 'deepseek' | 'google' | 'mistral'

type Sent = ChatRequest['messages'][number] & { reasoning_content?: unknown }
type SentCall = Extract<
  NonNullable<Extract<Sent, { role: 'assistant' }>['tool_calls']>[number],
  { type: 'function' }
> & {
  extra_content?: { google?: { thought_signature?: unknown } }
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const ID_LIMIT = 40

/**
 * What every provider refuses.
 *
 * @throws Refusal naming the message
 */
export function checkChat({ messages, tools = [] }: ChatRequest): void {
  if (messages.length === 0) throw new Refusal("Invalid 'messages': empty array. Expected at least 1 message.")
  for (const [i, tool] of tools.entries()) {
    if (tool.type === 'function') checkName(`tools[${i}].function.name`, tool.function.name)
  }
  const known = new Set<string>()
  let open: string[] = []
  for (const [i, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) {
        throw new Refusal(
          `Invalid parameter: messages[${i}] with role 'tool' must be a response to a preceeding message with 'tool_calls'.`,
        )
      }
      open = open.filter((id) => id !== message.tool_call_id)
      continue
    }
    checkAnswered(open, i)
    const calls = callsOf(message)
    for (const [n, { id, function: called }] of calls.entries()) {
      const where = `messages[${i}].tool_calls[${n}]`
      if (id === '' || id.length > ID_LIMIT || known.has(id)) throw new Refusal(`Invalid '${where}.id': "${id}".`)
      known.add(id)
      checkName(`${where}.function.name`, called.name)
      if (!isObjectJson(called.arguments))
        throw new Refusal(`Invalid '${where}.function.arguments': expected an object.`)
    }
    if (calls.length === 0 && isEmpty(message.content)) throw new Refusal(`Invalid 'messages[${i}].content': empty.`)
    open = calls.map(({ id }) => id)
  }
  checkAnswered(open, messages.length)
}

/** What one provider gives out with its answers, and demands back. One for each server. */
export class ProviderRules {
  readonly #rules: ChatRules | undefined
  /** What was given out with which calls. */
  readonly #given = new Map<string, unknown[]>()

  constructor(rules: ChatRules | undefined) {
    this.#rules = rules
  }

  /** @throws Refusal */
  check(body: ChatRequest): void {
    if (this.#rules === 'openai') checkOpenAI(body)
    if (this.#rules === 'mistral') checkMistral(body)
    if (this.#rules === 'deepseek' || this.#rules === 'google') this.#checkBack(body)
  }

  /** The thoughts that the answer to a request begins with. */
  thoughts(nth: number): string {
    return this.#rules === 'deepseek' ? `(thought ${nth})` : ''
  }

  /** What goes with a call. Of parallel calls only the first is signed. */
  extra(nth: number, index: number): { extra_content?: object } {
    if (this.#rules !== 'google' || index !== 0) return {}
    return { extra_content: { google: { thought_signature: `sig-${nth}` } } }
  }

  /** An answer was given: from now on, what went with it must come back. */
  answered(nth: number, { toolCalls }: Completion, thoughts: string): void {
    const key = keyOf(toolCalls)
    const wanted = this.#rules === 'google' ? `sig-${nth}` : thoughts
    this.#given.set(key, [...(this.#given.get(key) ?? []), wanted])
  }

  #checkBack({ messages }: ChatRequest): void {
    const google = this.#rules === 'google'
    for (const [i, message] of messages.entries()) {
      const calls = callsOf(message)
      const [first] = calls
      if (!first) continue
      const back = google ? first.extra_content?.google?.thought_signature : (message as Sent).reasoning_content
      const wanted = this.#given.get(keyOf(calls.map(({ function: called }) => called)))
      // Calls that the server knows nothing of: of another provider, or from before it was started.
      if (wanted ? wanted.includes(back) : typeof back === 'string') continue
      throw new Refusal(
        google
          ? `Function call is missing a thought_signature in functionCall parts. Function call \`${first.function.name}\`, position ${i}.`
          : 'The `reasoning_content` in the thinking mode must be passed back to the API.',
      )
    }
  }
}

/** As of the models since gpt-5. */
function checkOpenAI(body: ChatRequest): void {
  const reasons = /^(o\d|gpt-5)/.test(body.model)
  if (reasons && body.max_tokens !== undefined) {
    throw new Refusal(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { code: 'unsupported_parameter' },
    )
  }
  if (/^gpt-5\.[4-9]/.test(body.model) && body.tools && body.reasoning_effort !== 'none') {
    throw new Refusal(
      `Function tools with reasoning_effort are not supported for ${body.model} in /v1/chat/completions. Please use /v1/responses instead.`,
    )
  }
}

function checkMistral({ messages }: ChatRequest): void {
  for (const [i, message] of messages.entries()) {
    for (const { id } of callsOf(message)) {
      if (!/^[a-zA-Z0-9]{9}$/.test(id)) {
        throw new Refusal(`Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`)
      }
    }
    const before = messages[i - 1]?.role
    if (before === 'tool' && message.role === 'user') throw new Refusal("Unexpected role 'user' after role 'tool'")
  }
  const last = messages.at(-1)?.role
  if (last !== 'user' && last !== 'tool') throw new Refusal(`Expected last role User or Tool but got ${last}`)
}

function checkAnswered(open: readonly string[], at: number): void {
  if (open.length === 0) return
  throw new Refusal(
    `messages[${at}]: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
  )
}

function checkName(where: string, name: string): void {
  if (NAME.test(name)) return
  throw new Refusal(
    `Invalid '${where}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
  )
}

function callsOf(message: Sent): SentCall[] {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : []
  return calls.filter((call) => call.type === 'function')
}

function keyOf(calls: readonly { name: string; arguments: string }[]): string {
  return JSON.stringify(calls.map(({ name, arguments: args }) => [name, args]))
}

function isEmpty(content: unknown): boolean {
  return typeof content === 'string' ? content.trim() === '' : !Array.isArray(content) || content.length === 0
}

function isObjectJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
