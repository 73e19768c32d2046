/** Writes answers and errors in the format of Anthropic's Messages API, whole and as a stream of events. */
import type { Usage } from '../core/message.ts'
import type { Completion, ModelDelta } from '../core/model.ts'
import type { ServerEvent, Streaming, Writing } from './fake-protocol.ts'

/** What an answer is written with. */
export interface AnswerHead {
  id: string
  model: string
  /** The block that keeps this thinking; undefined when the request has thinking off. */
  seal(
    text: string,
  ): { type: 'thinking'; thinking: string; signature: string } | { type: 'redacted_thinking'; data: string } | undefined
  /** Told at the end of the answer. */
  done(completion: Completion): void
}

type Delta = Record<string, unknown>

const STOP = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' } as const
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

export function problemBody(status: number, message: string, code?: string): unknown {
  const said = code === 'context_length_exceeded' ? `prompt is too long: ${message}` : message
  return { type: 'error', error: { type: TYPES[status] ?? 'api_error', message: said }, request_id: 'req_fake' }
}

export function writeMessage(head: AnswerHead): Writing {
  return {
    whole(completion, reasoning) {
      const { content, toolCalls, finishReason, usage, model = head.model } = completion
      const thinking = reasoning ? head.seal(reasoning) : undefined
      head.done(completion)
      return {
        ...emptyMessage(head.id, model),
        content: [
          ...(thinking ? [thinking] : []),
          ...(content ? [{ type: 'text', text: content }] : []),
          ...toolCalls.map(({ id, name, arguments: text }) => ({ type: 'tool_use', id, name, input: parsed(text) })),
        ],
        stop_reason: STOP[finishReason],
        usage: toUsage(usage),
      }
    },
    stream: () => new MessageEvents(head),
  }
}

class MessageEvents implements Streaming {
  readonly #head: AnswerHead
  #begun = false
  #blocks = -1
  #open: 'text' | 'thinking' | number | undefined
  #thought = ''

  constructor(head: AnswerHead) {
    this.#head = head
  }

  piece(delta: ModelDelta): ServerEvent[] {
    const events = this.#begin(this.#head.model)
    if (delta.type === 'text') {
      if (this.#open !== 'text') events.push(...this.#start('text', { type: 'text', text: '' }))
      return [...events, this.#grow({ type: 'text_delta', text: delta.text })]
    }
    if (delta.type === 'reasoning') {
      const sealed = this.#head.seal('')
      if (!sealed) return events
      const redacted = sealed.type === 'redacted_thinking'
      if (!redacted && this.#open !== 'thinking') {
        events.push(...this.#start('thinking', { type: 'thinking', thinking: '', signature: '' }))
      }
      this.#thought += delta.text
      // Redacted thinking comes at once, when its text is known.
      if (redacted) return events
      return [...events, this.#grow({ type: 'thinking_delta', thinking: delta.text })]
    }
    const { index, id, name, arguments: text } = delta
    if (this.#open !== index) events.push(...this.#start(index, { type: 'tool_use', id, name, input: {} }))
    return [...events, this.#grow({ type: 'input_json_delta', partial_json: text })]
  }

  end(completion: Completion): ServerEvent[] {
    const { finishReason, usage, model = this.#head.model } = completion
    const last = [...this.#begin(model), ...this.#stop()]
    this.#head.done(completion)
    return [
      ...last,
      event('message_delta', {
        delta: { stop_reason: STOP[finishReason], stop_sequence: null },
        usage: toUsage(usage),
      }),
      event('message_stop', {}),
    ]
  }

  broken(problem: unknown): ServerEvent[] {
    return [{ event: 'error', data: problem }]
  }

  #begin(model: string): ServerEvent[] {
    if (this.#begun) return []
    this.#begun = true
    const message = { ...emptyMessage(this.#head.id, model), usage: { input_tokens: 1, output_tokens: 1 } }
    return [event('message_start', { message }), event('ping', {})]
  }

  #start(open: 'text' | 'thinking' | number, block: object): ServerEvent[] {
    const before = this.#stop()
    this.#open = open
    return [...before, event('content_block_start', { index: ++this.#blocks, content_block: block })]
  }

  #grow(delta: Delta): ServerEvent {
    return event('content_block_delta', { index: this.#blocks, delta })
  }

  #stop(): ServerEvent[] {
    const sealed = this.#thought ? this.#head.seal(this.#thought) : undefined
    this.#thought = ''
    if (sealed?.type === 'redacted_thinking') {
      const index = ++this.#blocks
      return [event('content_block_start', { index, content_block: sealed }), event('content_block_stop', { index })]
    }
    if (this.#open === undefined) return []
    this.#open = undefined
    const stop = event('content_block_stop', { index: this.#blocks })
    return sealed ? [this.#grow({ type: 'signature_delta', signature: sealed.signature }), stop] : [stop]
  }
}

function event(type: string, fields: object): ServerEvent {
  return { event: type, data: { type, ...fields } }
}

function emptyMessage(id: string, model: string): object {
  return { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null }
}

function toUsage({ inputTokens, outputTokens, cachedTokens = 0 }: Usage): object {
  return {
    input_tokens: inputTokens - cachedTokens,
    output_tokens: outputTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: 0,
  }
}

/** Broken arguments can only be sent as they are. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
