/** Writes one answer as a response of the Responses API, whole or as the events of a stream. */
import type {
  Response,
  ResponseFunctionToolCallItem,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from 'openai/resources/responses/responses'
import type { Completion, ModelDelta } from '../core/model.ts'
import type { Failure, ServerEvent, Streaming } from './fake-protocol.ts'
import type { ResponsesRequest } from './responses-request.ts'
import { encrypt, type ResponsesRules } from './responses-rules.ts'

/** An event without its number. */
type Told = ResponseStreamEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, 'sequence_number'>
    : never
  : never

export class ResponseWriter implements Streaming {
  readonly #body: ResponsesRequest
  readonly #nth: number
  readonly #reasons: boolean
  readonly #rules: ResponsesRules
  readonly #output: ResponseOutputItem[] = []
  /** Places in the output of items that are not at their end. */
  readonly #open = new Set<number>()
  /** Places of calls, by the number that the model's pieces have. */
  readonly #calls = new Map<number, number>()
  #events: ServerEvent[] = []
  #count = 0

  constructor(
    body: ResponsesRequest,
    { nth, reasons, rules }: { nth: number; reasons: boolean; rules: ResponsesRules },
  ) {
    this.#body = body
    this.#nth = nth
    this.#reasons = reasons
    this.#rules = rules
  }

  piece(delta: ModelDelta): ServerEvent[] {
    this.#begin()
    if (delta.type === 'reasoning') this.#think(delta.text)
    else if (delta.type === 'text') this.#say(delta.text)
    else this.#call(delta)
    return this.#take()
  }

  end(completion: Completion): ServerEvent[] {
    this.#begin()
    this.#close()
    const { finishReason, model } = completion
    const whole = finishReason === 'stop' || finishReason === 'tool_calls'
    const response = {
      ...this.#response(whole ? 'completed' : 'incomplete'),
      ...(model !== undefined && { model }),
      ...(!whole && {
        incomplete_details: { reason: finishReason === 'length' ? 'max_output_tokens' : 'content_filter' } as const,
      }),
      usage: toResponseUsage(completion.usage),
    }
    this.#tell({ type: whole ? 'response.completed' : 'response.incomplete', response })
    return this.#take()
  }

  broken(_problem: unknown, { status, code, message }: Failure): ServerEvent[] {
    const named = status === 429 ? 'rate_limit_exceeded' : status >= 500 ? 'server_error' : (code ?? 'invalid_prompt')
    // Codes that the type does not list, e.g. `context_length_exceeded`, are sent too.
    const error = { code: named as 'server_error', message }
    this.#tell({ type: 'response.failed', response: { ...this.#response('failed'), error } })
    return this.#take()
  }

  whole(completion: Completion, thought: string): Response {
    const { content, toolCalls } = completion
    if (thought) this.piece({ type: 'reasoning', text: thought })
    if (content) this.piece({ type: 'text', text: content })
    for (const [index, call] of toolCalls.entries()) this.piece({ type: 'toolCall', index, ...call })
    const last = this.end(completion).at(-1)?.data as { response: Response }
    return last.response
  }

  #begin(): void {
    if (this.#count > 0) return
    this.#tell({ type: 'response.created', response: this.#response('in_progress') })
    this.#tell({ type: 'response.in_progress', response: this.#response('in_progress') })
    if (this.#reasons) this.#add({ type: 'reasoning', id: `rs_${this.#nth}`, summary: [] })
  }

  #think(text: string): void {
    const at = this.#lastOpen('reasoning')
    if (at === undefined || !this.#body.reasoning?.summary) return
    const item = this.#output[at] as ResponseReasoningItem
    const place = { item_id: item.id, output_index: at, summary_index: 0 }
    if (item.summary.length === 0) {
      item.summary.push({ type: 'summary_text', text: '' })
      this.#tell({ type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } })
    }
    const [part] = item.summary
    if (part) part.text += text
    this.#tell({ type: 'response.reasoning_summary_text.delta', ...place, delta: text })
  }

  #say(text: string): void {
    const at = this.#lastOpen('message') ?? this.#addMessage()
    const item = this.#output[at] as ResponseOutputMessage
    const [part] = item.content
    if (part?.type === 'output_text') part.text += text
    const place = { item_id: item.id, output_index: at, content_index: 0 }
    this.#tell({ type: 'response.output_text.delta', ...place, delta: text, logprobs: [] })
  }

  #addMessage(): number {
    this.#close('final_answer')
    const id = `msg_${this.#nth}_${this.#output.length}`
    const at = this.#add({ type: 'message', id, role: 'assistant', status: 'in_progress', content: [] })
    const item = this.#output[at] as ResponseOutputMessage
    item.content.push({ type: 'output_text', text: '', annotations: [] })
    const part = { type: 'output_text' as const, text: '', annotations: [] }
    this.#tell({ type: 'response.content_part.added', item_id: id, output_index: at, content_index: 0, part })
    return at
  }

  #call({ index, id = '', name = '', arguments: args }: Extract<ModelDelta, { type: 'toolCall' }>): void {
    let at = this.#calls.get(index)
    if (at === undefined) {
      for (const each of this.#open) if (this.#output[each]?.type !== 'function_call') this.#done(each, 'commentary')
      const itemId = `fc_${this.#nth}_${index}`
      at = this.#add({ type: 'function_call', id: itemId, call_id: id, name, arguments: '', status: 'in_progress' })
      this.#calls.set(index, at)
      if (this.#reasons) this.#rules.made(this.#body.model ?? '', id, `rs_${this.#nth}`)
    }
    const item = this.#output[at] as ResponseFunctionToolCallItem
    item.arguments += args
    if (args) {
      this.#tell({ type: 'response.function_call_arguments.delta', item_id: item.id, output_index: at, delta: args })
    }
  }

  #lastOpen(type: ResponseOutputItem['type']): number | undefined {
    return [...this.#open].findLast((at) => this.#output[at]?.type === type)
  }

  #add(item: ResponseOutputItem): number {
    const at = this.#output.push(item) - 1
    this.#open.add(at)
    this.#tell({ type: 'response.output_item.added', output_index: at, item })
    return at
  }

  #close(phase: 'commentary' | 'final_answer' = 'final_answer'): void {
    for (const at of this.#open) this.#done(at, phase)
  }

  /** Only now an item is whole: encrypted content comes with its end. */
  #done(at: number, phase: 'commentary' | 'final_answer'): void {
    const item = this.#output[at]
    this.#open.delete(at)
    if (!item) return
    if (item.type === 'reasoning' && this.#body.include?.includes('reasoning.encrypted_content')) {
      item.encrypted_content = encrypt(item.id, this.#body.model ?? '')
    } else if (item.type === 'function_call') {
      item.status = 'completed'
      const { id = '', name, arguments: args } = item
      this.#tell({
        type: 'response.function_call_arguments.done',
        item_id: id,
        output_index: at,
        name,
        arguments: args,
      })
    } else if (item.type === 'message') Object.assign(item, { status: 'completed', phase })
    this.#tell({ type: 'response.output_item.done', output_index: at, item })
  }

  #response(status: NonNullable<Response['status']>): Response {
    const { model = '', instructions = null } = this.#body
    const head = { id: `resp_${this.#nth}`, object: 'response', created_at: 0, model, status, error: null }
    const rest = { instructions, incomplete_details: null, metadata: {}, temperature: null, top_p: null, tools: [] }
    return {
      ...head,
      ...rest,
      output: this.#output,
      parallel_tool_calls: true,
      tool_choice: 'auto',
    } as unknown as Response
  }

  /** Each event is a copy: the items go on growing. */
  #tell(event: Told): void {
    const data = structuredClone({ ...event, sequence_number: this.#count++ })
    this.#events.push({ event: event.type, data })
  }

  #take(): ServerEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }
}

function toResponseUsage({ inputTokens, outputTokens, cachedTokens = 0 }: Completion['usage']): ResponseUsage {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  }
}
