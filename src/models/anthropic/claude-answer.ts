/** Turns an answer of Anthropic's Messages API, whole or as a stream, into our completion. */
import type Anthropic from '@anthropic-ai/sdk'
import { StelloError } from '../../core/errors.ts'
import { preview, type ToolCall, type Usage } from '../../core/message.ts'
import type { Completion, ModelDelta } from '../../core/model.ts'
import { costOf, type Prices } from '../prices.ts'
import { toProviderData } from './claude-record.ts'

/** What the request knows about the answer. */
export interface Expected {
  /** Hash of the prompt to which the thinking is bound; undefined if the model does not bind it. */
  prompt: string | undefined
  /** The server that answers. */
  host: string
  prices: Prices | undefined
}

type Block = Anthropic.ContentBlock
type Stop = Anthropic.StopReason | null | undefined
type Counted = Partial<Anthropic.Usage>

/** @throws StelloError MODEL_UNAVAILABLE when the body is no answer */
export function readClaudeAnswer(body: Anthropic.Message, expected: Expected): Completion {
  const { content, stop_reason: stop, stop_details: details, usage, model } = body as Partial<Anthropic.Message>
  if (!Array.isArray(content)) {
    const said = preview(JSON.stringify(body) ?? '', 200)
    throw new StelloError('MODEL_UNAVAILABLE', `the server sent no answer but ${said}`)
  }
  const inputs = content.map((block) => (block.type === 'tool_use' ? toText(block.input) : ''))
  return toCompletion({ content, inputs, stop, details, usage, model }, expected)
}

/** @throws StelloError MODEL_UNAVAILABLE when the stream ends before the answer does */
export async function readClaudeStream(
  events: AsyncIterable<Anthropic.RawMessageStreamEvent>,
  onDelta: (delta: ModelDelta) => void,
  expected: Expected,
): Promise<Completion> {
  const answer = new Pieces(onDelta)
  for await (const event of events) answer.add(event)
  if (!answer.stop) throw new StelloError('MODEL_UNAVAILABLE', 'the stream broke off before the answer was complete')
  return toCompletion(answer, expected)
}

interface Answered {
  content: readonly Block[]
  /** For each block, the arguments if it is a call, as text; they may be broken. */
  inputs: readonly string[]
  stop: Stop
  details?: Anthropic.RefusalStopDetails | null | undefined
  usage?: Counted | undefined
  model?: string | undefined
}

class Pieces implements Answered {
  content: Block[] = []
  inputs: string[] = []
  stop: Stop
  details: Anthropic.RefusalStopDetails | null | undefined
  usage: Counted = {}
  model: string | undefined
  readonly #tell: (delta: ModelDelta) => void
  /** From the server's index of a block to its place in `content`. */
  readonly #at = new Map<number, number>()
  /** From the place of a call in `content` to its place among the calls. */
  readonly #calls = new Map<number, number>()

  constructor(tell: (delta: ModelDelta) => void) {
    this.#tell = tell
  }

  add(event: Anthropic.RawMessageStreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.model = event.message.model
        return this.#count(event.message.usage)
      case 'content_block_start':
        return this.#open(event.index, event.content_block)
      case 'content_block_delta':
        return this.#grow(event.index, event.delta)
      case 'message_delta':
        this.stop = event.delta.stop_reason ?? this.stop
        this.details = event.delta.stop_details ?? this.details
        return this.#count(event.usage)
      case 'content_block_stop':
      case 'message_stop':
        return undefined
    }
  }

  #open(index: number, block: Block): void {
    const at = this.content.push({ ...block }) - 1
    this.#at.set(index, at)
    this.inputs.push('')
    if (block.type === 'text' && block.text) this.#tell({ type: 'text', text: block.text })
    if (block.type === 'thinking' && block.thinking) this.#tell({ type: 'reasoning', text: block.thinking })
    if (block.type !== 'tool_use') return
    this.#calls.set(at, this.#calls.size)
    // Some servers send the whole input here; Anthropic sends an empty object and then its pieces.
    const input = toText(block.input)
    this.inputs[at] = input === '{}' ? '' : input
    this.#tell({
      type: 'toolCall',
      index: this.#calls.get(at) ?? 0,
      id: block.id,
      name: block.name,
      arguments: this.inputs[at],
    })
  }

  #grow(index: number, delta: Anthropic.RawContentBlockDelta): void {
    const at = this.#at.get(index)
    const block = at === undefined ? undefined : this.content[at]
    if (at === undefined || !block) return
    if (delta.type === 'text_delta' && block.type === 'text') {
      block.text += delta.text
      if (delta.text) this.#tell({ type: 'text', text: delta.text })
    } else if (delta.type === 'thinking_delta' && block.type === 'thinking') {
      block.thinking += delta.thinking
      if (delta.thinking) this.#tell({ type: 'reasoning', text: delta.thinking })
    } else if (delta.type === 'signature_delta' && block.type === 'thinking') {
      block.signature += delta.signature
    } else if (delta.type === 'input_json_delta' && block.type === 'tool_use') {
      this.inputs[at] += delta.partial_json
      const call = this.#calls.get(at) ?? 0
      if (delta.partial_json) this.#tell({ type: 'toolCall', index: call, arguments: delta.partial_json })
    }
  }

  /** The numbers in later events count the whole answer. Later events may leave out some of the numbers. */
  #count(usage: object | null | undefined): void {
    const told = Object.entries(usage ?? {}).filter(([, value]) => typeof value === 'number')
    this.usage = { ...this.usage, ...Object.fromEntries(told) }
  }
}

function toCompletion(answered: Answered, { prices, ...kept }: Expected): Completion {
  const { content, inputs, stop, details, usage, model } = answered
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
  const refused = stop === 'refusal'
  const toolCalls = content.flatMap((block, i): ToolCall[] =>
    block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: inputs[i] || '{}' }] : [],
  )
  const provider = toProviderData(content, kept)
  return {
    content: text || (refused ? (details?.explanation ?? '') : ''),
    toolCalls,
    usage: toUsage(usage, prices),
    finishReason: toFinishReason(stop, toolCalls.length > 0),
    ...(typeof model === 'string' && model !== '' && { model }),
    ...(provider && { provider }),
  }
}

/** The stop reasons of an answer that is not complete. Only tools that Anthropic runs itself cause `pause_turn`. */
const CUT = ['max_tokens', 'model_context_window_exceeded', 'pause_turn']

function toFinishReason(stop: Stop, calls: boolean): Completion['finishReason'] {
  if (stop === 'refusal') return 'refusal'
  if (stop && CUT.includes(stop)) return 'length'
  return calls ? 'tool_calls' : 'stop'
}

/** Anthropic does not count cached tokens as input tokens. We do. */
function toUsage(usage: Counted = {}, prices: Prices | undefined): Usage {
  const read = usage.cache_read_input_tokens ?? 0
  const written = usage.cache_creation_input_tokens ?? 0
  const inputTokens = (usage.input_tokens ?? 0) + read + written
  const outputTokens = usage.output_tokens ?? 0
  const known = prices && usage.output_tokens !== undefined
  return {
    inputTokens,
    outputTokens,
    ...(read > 0 && { cachedTokens: read }),
    ...(known && { costUsd: costOf({ input: inputTokens, output: outputTokens, read, written }, prices) }),
  }
}

/** Some servers send the arguments as text. */
function toText(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {})
}
