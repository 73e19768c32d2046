/** Turns an answer of the AI SDK, whole or in pieces, into our completion. */
import { StelloError } from '../../core/errors.ts'
import type { ToolCall, Usage } from '../../core/message.ts'
import type { CompleteOptions, Completion } from '../../core/model.ts'
import { costOf, type Prices } from '../prices.ts'
import { toProviderData, type WholePart } from './ai-sdk-record.ts'
import type { ContentPart, FinishReason, Generated, Metadata, StreamPart, TokenUsage } from './language-model.ts'

/** What the request knows about the answer. */
export interface Expected {
  /** The key under which the record keeps what the provider wants back. */
  key: string
  /** Hash of the prompt to which the reasoning is bound; unset if the model does not bind it. */
  prompt?: string | undefined
  prices: Prices | undefined
}

export function readGenerated({ content, finishReason, usage, response }: Generated, expected: Expected): Completion {
  const parts = content.flatMap((part): Piece[] => (isOurs(part) ? [wholePiece(part)] : []))
  return toCompletion({ parts, finishReason, usage, model: response?.modelId }, expected)
}

/**
 * @throws the error that the stream reports; StelloError MODEL_UNAVAILABLE when the stream ends before the answer does
 */
export async function readParts(
  stream: AsyncIterable<StreamPart>,
  { onDelta = () => undefined, onAlive }: CompleteOptions,
  expected: Expected,
): Promise<Completion> {
  const answer = new Pieces(onDelta)
  for await (const part of stream) {
    onAlive?.()
    answer.add(part)
  }
  if (answer.finishReason === undefined) {
    throw new StelloError('MODEL_UNAVAILABLE', 'the stream broke off before the answer was complete')
  }
  const { parts, finishReason, usage, model } = answer
  return toCompletion({ parts, finishReason, usage, model }, expected)
}

/** A part that is still growing. The `text` of a call holds its arguments. */
type Piece = WholePart & { call?: { id: string; name: string; index: number } }

class Pieces {
  readonly parts: Piece[] = []
  finishReason: FinishReason | undefined
  usage: TokenUsage = {}
  model: string | undefined
  readonly #tell: NonNullable<CompleteOptions['onDelta']>
  readonly #open = new Map<string, Piece>()
  #calls = 0

  constructor(tell: NonNullable<CompleteOptions['onDelta']>) {
    this.#tell = tell
  }

  add(part: StreamPart): void {
    const { type, id = '', delta = '' } = part
    switch (type) {
      case 'text-start':
      case 'reasoning-start': {
        const kind = type === 'text-start' ? 'text' : 'reasoning'
        this.#begin(`${type} ${id}`, { type: kind, text: '' }, part.providerMetadata)
        return
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const kind = type === 'text-delta' ? 'text' : 'reasoning'
        const key = `${kind}-start ${id}`
        const piece = this.#open.get(key) ?? this.#begin(key, { type: kind, text: '' })
        grow(piece, delta, part.providerMetadata)
        if (delta) this.#tell({ type: kind, text: delta })
        return
      }
      case 'text-end':
      case 'reasoning-end': {
        const piece = this.#open.get(`${type.replace('end', 'start')} ${id}`)
        if (piece) grow(piece, '', part.providerMetadata)
        return
      }
      case 'tool-input-start':
        if (!part.providerExecuted) this.#call({ id, name: part.toolName ?? '' }, '', part.providerMetadata)
        return
      case 'tool-input-delta': {
        const piece = this.#open.get(`call ${id}`)
        if (!piece?.call || !delta) return
        grow(piece, delta)
        this.#tell({ type: 'toolCall', index: piece.call.index, arguments: delta })
        return
      }
      case 'tool-call':
        if (!part.providerExecuted) this.#called(part)
        return
      case 'custom':
        this.parts.push(wholePiece(part))
        return
      case 'response-metadata':
        this.model = part.modelId ?? this.model
        return
      case 'finish':
        this.finishReason = part.finishReason
        this.usage = part.usage ?? {}
        return
      case 'error':
        throw typeof part.error === 'string' ? { message: part.error } : part.error
      default:
    }
  }

  /** @param key under which it is found while it grows */
  #begin(key: string, piece: Piece, metadata?: Metadata): Piece {
    this.#open.set(key, piece)
    this.parts.push(piece)
    grow(piece, '', metadata)
    return piece
  }

  #call({ id, name }: { id: string; name: string }, text: string, metadata: Metadata | undefined): void {
    const index = this.#calls++
    const piece: Piece = { type: 'tool-call', text, call: { id, name, index } }
    this.#begin(`call ${id}`, piece, metadata)
    this.#tell({ type: 'toolCall', index, id, name, arguments: text })
  }

  /** Takes a whole call. It comes after its pieces, or without pieces. */
  #called({ toolCallId = '', toolName = '', input, providerMetadata }: StreamPart): void {
    const piece = this.#open.get(`call ${toolCallId}`)
    if (!piece) return this.#call({ id: toolCallId, name: toolName }, toText(input), providerMetadata)
    grow(piece, '', providerMetadata)
    piece.text = toText(input)
  }
}

function grow(piece: Piece, text: string, metadata?: Metadata): void {
  piece.text += text
  if (!metadata) return
  const merged = Object.entries(metadata).map(([key, value]) => [key, { ...piece.metadata?.[key], ...value }] as const)
  piece.metadata = { ...piece.metadata, ...Object.fromEntries(merged) }
}

function isOurs({ type, providerExecuted }: ContentPart): boolean {
  return !providerExecuted && ['text', 'reasoning', 'tool-call', 'custom'].includes(type)
}

function wholePiece(part: ContentPart): Piece {
  const { type, text = '', kind, toolCallId = '', toolName = '', input, providerMetadata: metadata } = part
  return {
    type: type as Piece['type'],
    text: type === 'tool-call' ? toText(input) : text,
    kind,
    metadata,
    ...(type === 'tool-call' && { call: { id: toolCallId, name: toolName, index: 0 } }),
  }
}

interface Answered {
  parts: readonly Piece[]
  finishReason: FinishReason
  usage: TokenUsage
  model: string | undefined
}

function toCompletion({ parts, finishReason, usage, model }: Answered, { prices, ...kept }: Expected): Completion {
  const content = parts.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('')
  const toolCalls = parts.flatMap(({ call, text }): ToolCall[] =>
    call ? [{ id: call.id, name: call.name, arguments: text || '{}' }] : [],
  )
  const reason = typeof finishReason === 'string' ? finishReason : finishReason.unified
  if (reason === 'error') throw new StelloError('MODEL_UNAVAILABLE', 'the provider could not end its answer')
  const provider = toProviderData(kept, parts)
  return {
    content,
    toolCalls,
    usage: toUsage(usage, prices),
    finishReason: toFinishReason(reason, toolCalls.length > 0),
    ...(model !== undefined && model !== '' && { model }),
    ...(provider && { provider }),
  }
}

function toFinishReason(reason: string, calls: boolean): Completion['finishReason'] {
  if (reason === 'content-filter') return 'refusal'
  if (reason === 'length' || reason === 'interrupted') return 'length'
  return calls ? 'tool_calls' : 'stop'
}

function toUsage({ inputTokens, outputTokens, cachedInputTokens }: TokenUsage, prices: Prices | undefined): Usage {
  const from = typeof inputTokens === 'object' ? inputTokens : { total: inputTokens, cacheRead: cachedInputTokens }
  const input = from.total ?? 0
  const output = (typeof outputTokens === 'object' ? outputTokens.total : outputTokens) ?? 0
  const read = from.cacheRead ?? 0
  const written = 'cacheWrite' in from ? (from.cacheWrite ?? 0) : 0
  return {
    inputTokens: input,
    outputTokens: output,
    ...(read > 0 && { cachedTokens: read }),
    ...(prices && input + output > 0 && { costUsd: costOf({ input, output, read, written }, prices) }),
  }
}

function toText(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {})
}
