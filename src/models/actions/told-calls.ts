/**
 * Reports the calls of a reply while it streams in. A call is reported as soon as the model may have meant it, judged
 * by what stands before it. The end of the reply decides which calls were meant. What is reported then has the same ids
 * and continues where the pieces ended.
 */
import type { ToolCall } from '../../core/message.ts'
import type { ModelDelta, ToolSpec } from '../../core/model.ts'
import { idOf } from './action-reply.ts'
import type { StreamingCall } from './streaming-object.ts'

/** Where an object stands. */
export interface Place {
  /** It stands behind a mark that is no quotation. */
  marked: boolean
  /** It stands in a fence, at the beginning of a line, or next in a list. */
  aside: boolean
}

interface Told {
  id: string
  name: string
  text: string
}

export class ToldCalls {
  readonly #tell: (delta: ModelDelta) => void
  readonly #names: ReadonlySet<string>
  readonly #readOnly: ReadonlySet<string>
  readonly #idPrefix: string
  readonly #told = new Map<number, Told>()
  readonly #numbers = new Map<StreamingCall, number>()
  /**
   * The first call that may be meant. `number` is its place. `sure` means that it may stand anywhere; if it is not
   * sure, text behind it shows that it was only quoted.
   */
  #first: { number: number; own: boolean; sure: boolean } | undefined

  constructor(tell: (delta: ModelDelta) => void, tools: readonly ToolSpec[], idPrefix: string) {
    this.#tell = tell
    this.#names = new Set(tools.map(({ name }) => name))
    this.#readOnly = new Set(tools.flatMap(({ name, readOnly }) => (readOnly ? name : [])))
    this.#idPrefix = idPrefix
  }

  /** Other text followed. A call that may stand anywhere is still meant; any other call was quoted. */
  proseFollows(): void {
    if (this.#first && !this.#first.sure) this.#first = undefined
  }

  /** @returns whether one of them may be meant */
  tell(calls: readonly StreamingCall[], place: Place): boolean {
    return calls.map((call) => this.#tellOne(call, place)).includes(true)
  }

  #tellOne(call: StreamingCall, { marked, aside }: Place): boolean {
    // The arguments may come before the name.
    if (!call.sure || call.name === '' || (!marked && !this.#names.has(call.name))) return false
    const number = this.#numbers.get(call) ?? this.#numbers.size
    this.#numbers.set(call, number)
    const sure = marked || this.#readOnly.has(call.name)
    const meant = sure || aside
    if (meant) this.#first ??= { number, own: call.own, sure }
    const index = number - (this.#first?.number ?? 0)
    const alone = index > 0 && (call.own || this.#first?.own === true)
    if (meant && !alone && index >= 0 && this.#names.has(call.name)) this.#piece(index, number, call)
    call.fresh = ''
    return meant
  }

  #piece(index: number, number: number, { name, fresh }: StreamingCall): void {
    const id = idOf(this.#idPrefix, number)
    const before = this.#told.get(index)
    if (before?.id === id) {
      before.text += fresh
      if (fresh !== '') this.#tell({ type: 'toolCall', index, arguments: fresh })
      return
    }
    this.#told.set(index, { id, name, text: fresh })
    this.#tell({ type: 'toolCall', index, id, name, arguments: fresh })
  }

  /** @param toolCalls those of the whole reply */
  end(toolCalls: readonly ToolCall[]): void {
    for (const [index, { id, name, arguments: whole }] of toolCalls.entries()) {
      const told = this.#told.get(index)
      if (told?.id !== id || told.name !== name) this.#tell({ type: 'toolCall', index, id, name, arguments: whole })
      else if (whole.length > told.text.length && whole.startsWith(told.text)) {
        this.#tell({ type: 'toolCall', index, arguments: whole.slice(told.text.length) })
      }
    }
  }
}
