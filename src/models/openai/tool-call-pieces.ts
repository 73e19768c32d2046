/** Puts the tool calls of a streamed answer together from their pieces. Never parses the arguments: they may be broken. */
import type { ChatCompletionChunk } from 'openai/resources/chat/completions'
import type { ToolCall } from '../../core/message.ts'
import type { ModelDelta } from '../../core/model.ts'

/** What a server sends. The type demands an index, but some servers leave it out. */
type Piece = Partial<ChatCompletionChunk.Choice.Delta.ToolCall>

export class ToolCallPieces {
  readonly calls: ToolCall[] = []
  readonly #byIndex = new Map<number, number>()
  /** The server's indexes, by position in `calls`: ours may differ. */
  readonly #ids: string[] = []
  readonly #byId = new Map<string, number>()

  add(piece: Piece): ModelDelta {
    const known = this.#find(piece)
    const index = known ?? this.#open(piece)
    const call = this.calls[index] as ToolCall
    const text = toText(piece.function?.arguments)
    call.name ||= piece.function?.name ?? ''
    call.arguments += text
    return { type: 'toolCall', index, ...(known === undefined && { id: call.id, name: call.name }), arguments: text }
  }

  /** By index; by id where the index is missing or the same for all calls; else the call that came last. */
  #find({ index, id, function: { name } = {} }: Piece): number | undefined {
    const byIndex = index === undefined ? undefined : this.#byIndex.get(index)
    if (byIndex !== undefined && (!id || !name || this.#ids[byIndex] === id)) return byIndex
    const byId = id ? this.#byId.get(id) : undefined
    if (byId !== undefined) return byId
    return index === undefined && !id && !name && this.calls.length > 0 ? this.calls.length - 1 : undefined
  }

  #open({ index, id, function: { name = '' } = {} }: Piece): number {
    const at = this.calls.length
    this.calls.push({ id: id || `call_${at}`, name, arguments: '' })
    this.#ids.push(id ?? '')
    if (id && !this.#byId.has(id)) this.#byId.set(id, at)
    if (index !== undefined) this.#byIndex.set(index, at)
    return at
  }
}

/** Some servers send the arguments parsed. */
export function toText(args: unknown): string {
  if (args === undefined || args === null) return ''
  return typeof args === 'string' ? args : JSON.stringify(args)
}
