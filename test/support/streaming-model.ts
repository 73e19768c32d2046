/** A model whose answer streams in pieces. The next piece comes when the test lets it come. */
import type { Completion, Model, ModelDelta } from '../../src/core/model.ts'
import { orAborted } from '../../src/core/or-aborted.ts'
import { createGate, type Gate } from './gate.ts'

export interface StreamingModel extends Model {
  /** One gate after each piece: it is `reached` when the piece was sent, and the next piece comes when it is open. */
  readonly gates: readonly Gate[]
  /** Opens all gates. */
  open(): void
}

/** Answers a user with these pieces, and a tool's result by repeating it. */
export function streamingModel(pieces: ModelDelta[]): StreamingModel {
  const gates = pieces.map(() => createGate())
  return {
    name: 'streaming',
    gates,
    open: () => gates.forEach((gate) => gate.open()),
    async complete(messages, { onDelta, signal } = {}) {
      const last = messages.at(-1)
      if (last?.role === 'tool') return toCompletion([{ type: 'text', text: `read ${last.content}` }])
      for (const [i, piece] of pieces.entries()) {
        onDelta?.(piece)
        await orAborted(gates[i]?.pass() ?? Promise.resolve(), signal)
      }
      return toCompletion(pieces)
    },
  }
}

/** A call whose arguments come in these pieces. */
export function callPieces(name: string, pieces: string[], index = 0): ModelDelta[] {
  return pieces.map((text, i) => ({
    type: 'toolCall',
    index,
    ...(i === 0 && { id: `call_${index}`, name }),
    arguments: text,
  }))
}

/** The answer that these pieces make. */
export function toCompletion(pieces: ModelDelta[]): Completion {
  const calls: Completion['toolCalls'] = []
  let content = ''
  for (const piece of pieces) {
    if (piece.type === 'text') content += piece.text
    else if (piece.type === 'toolCall') {
      const call = (calls[piece.index] ??= { id: piece.id ?? '', name: piece.name ?? '', arguments: '' })
      call.arguments += piece.arguments
    }
  }
  const finishReason = calls.length > 0 ? 'tool_calls' : 'stop'
  return { content, toolCalls: calls, usage: { inputTokens: 1, outputTokens: 1 }, finishReason }
}
