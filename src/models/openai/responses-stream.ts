/** Puts a response together from the events of its stream, and reports its pieces. */
import type {
  Response,
  ResponseOutputItem,
  ResponseReasoningItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import { preview } from '../../core/message.ts'
import type { ModelDelta } from '../../core/model.ts'
import { refuseError, type ChatEvent } from './chat-events.ts'
import { BETWEEN_TEXTS, textOf } from './openai-data.ts'
import { toText } from './tool-call-pieces.ts'

/**
 * @param events the events of a stream. For a server that does not stream, the only event is the whole response
 * @returns the response, with each item as `response.output_item.done` had it: in other events, an item may be
 *   incomplete
 * @throws StelloError MODEL_UNAVAILABLE when the stream ends before the response does
 */
export async function readResponseStream(
  events: AsyncIterable<ChatEvent>,
  onDelta: (delta: ModelDelta) => void,
): Promise<Response> {
  const pieces = new Pieces(onDelta)
  const done = new Map<number, ResponseOutputItem>()
  for await (const told of events) {
    if (typeof told === 'string') continue
    const event = told.data as unknown as ResponseStreamEvent
    if (event.type === 'response.output_item.done') {
      done.set(event.output_index, event.item)
      pieces.finish(event.output_index, event.item)
    } else if (
      event.type === 'response.completed' ||
      event.type === 'response.incomplete' ||
      event.type === 'response.failed'
    ) {
      const output = withDone(event.response.output, done)
      for (const [at, item] of output.entries()) pieces.finish(at, item)
      return { ...event.response, output }
    } else pieces.take(event)
  }
  throw new StelloError('MODEL_UNAVAILABLE', 'the stream broke off before the answer was complete')
}

/** The whole response of a server that does not stream, as the events of a stream. */
export async function* wholeAsEvents(response: unknown): AsyncGenerator<ChatEvent> {
  if (isObject(response) && Array.isArray(response['output'])) {
    yield { data: { type: 'response.completed', response } }
    return
  }
  if (isObject(response)) refuseError(response)
  throw new StelloError(
    'MODEL_UNAVAILABLE',
    `the server sent no answer but ${preview(JSON.stringify(response) ?? '', 200)}`,
  )
}

/** The last event holds the items that were cut off. Some servers leave out the other items there. */
function withDone(
  output: ResponseOutputItem[] | undefined,
  done: ReadonlyMap<number, ResponseOutputItem>,
): ResponseOutputItem[] {
  const items = new Map([...(output ?? []).entries(), ...done])
  return [...items].sort(([a], [b]) => a - b).map(([, item]) => item)
}

class Pieces {
  readonly #onDelta: (delta: ModelDelta) => void
  /** By the place of an item in the output, how many of its characters were reported. */
  readonly #told = new Map<number, number>()
  /** By the place of a call in the output, its place among the calls. */
  readonly #calls = new Map<number, number>()
  #texts = 0

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta
  }

  take(event: ResponseStreamEvent): void {
    if (event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta') {
      this.#text(event.output_index, event.delta)
    } else if (event.type === 'response.output_item.added') {
      if (event.item.type === 'function_call') this.#open(event.output_index, event.item)
    } else if (event.type === 'response.function_call_arguments.delta') {
      this.#arguments(event.output_index, event.delta)
    } else if (event.type === 'response.reasoning_summary_part.added') {
      if (event.summary_index > 0) this.#reasoning(event.output_index, BETWEEN_TEXTS)
    } else if (
      event.type === 'response.reasoning_summary_text.delta' ||
      event.type === 'response.reasoning_text.delta'
    ) {
      this.#reasoning(event.output_index, event.delta)
    }
  }

  /** Reports the rest of an item, which did not come in pieces. */
  finish(at: number, item: ResponseOutputItem): void {
    const told = this.#told.get(at) ?? 0
    if (item.type === 'message') this.#text(at, textOf(item).slice(told))
    else if (item.type === 'reasoning') this.#reasoning(at, thoughtOf(item).slice(told))
    else if (item.type === 'function_call') {
      this.#open(at, item)
      this.#arguments(at, toText(item.arguments).slice(this.#told.get(at) ?? 0))
    }
  }

  #open(
    at: number,
    { call_id: id, name, arguments: args }: Extract<ResponseOutputItem, { type: 'function_call' }>,
  ): void {
    if (this.#calls.has(at)) return
    const index = this.#calls.size
    this.#calls.set(at, index)
    const text = toText(args)
    this.#count(at, text)
    this.#onDelta({ type: 'toolCall', index, id, name, arguments: text })
  }

  #arguments(at: number, text: string): void {
    const index = this.#calls.get(at)
    if (index === undefined || text === '') return
    this.#count(at, text)
    this.#onDelta({ type: 'toolCall', index, arguments: text })
  }

  #text(at: number, text: string): void {
    if (text === '') return
    const begins = !this.#told.has(at) && this.#texts++ > 0
    this.#count(at, text)
    this.#onDelta({ type: 'text', text: begins ? BETWEEN_TEXTS + text : text })
  }

  #reasoning(at: number, text: string): void {
    if (text === '') return
    this.#count(at, text)
    this.#onDelta({ type: 'reasoning', text })
  }

  #count(at: number, text: string): void {
    this.#told.set(at, (this.#told.get(at) ?? 0) + text.length)
  }
}

function thoughtOf({ summary = [], content = [] }: Partial<ResponseReasoningItem>): string {
  return (summary.length > 0 ? summary : content).map(({ text }) => text).join(BETWEEN_TEXTS)
}
