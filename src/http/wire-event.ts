/** An event as it crosses HTTP. Its cursor travels as the id of the server-sent event, once for many events of a page. */
import type { StelloEvent } from '../client/index.ts'
import type { Json } from './json.ts'

/** An event without its cursor. Its `type` says what `data` holds. */
export type WireEvent =
  Json<StelloEvent> extends infer Event ? (Event extends unknown ? Omit<Event, 'cursor'> : never) : never

export function toWire(event: StelloEvent): WireEvent {
  const { cursor, ...rest } = event
  void cursor
  return { ...rest, at: event.at.toISOString() } as WireEvent
}
