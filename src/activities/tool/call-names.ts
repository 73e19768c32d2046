/** The names of a call, for the machine and for people: the same in every event about it. */
import { brief } from '../../core/message.ts'
import type { NamedCall } from '../../protocol/events.ts'
import type { CallNames } from '../../protocol/steps.ts'

/** Bytes of a tool's name for people: the workflow keeps it with each call. */
const TITLE_SHOWN = 40

/** The part of an event's data. */
export function shownNames({ id, name, title }: CallNames): NamedCall {
  return { callId: id, name, ...(title !== undefined && { title }) }
}

/** A tool's name for people, where it has one. @param titles by the tools' names */
export function titled(titles: ReadonlyMap<string, string>, name: string): { title?: string } {
  const title = titles.get(name)
  return title === undefined ? {} : { title: brief(title, TITLE_SHOWN) }
}
