/** The names of a call, for the machine and for people. They are the same in every event about the call. */
import { brief } from '../../core/message.ts'
import type { NamedCall } from '../../protocol/events.ts'
import type { CallNames } from '../../protocol/steps.ts'

/** Longest name of a tool for people, in bytes. The workflow keeps it with each call, so it must be short. */
const TITLE_SHOWN = 40

/** The names as a part of an event's data. */
export function shownNames({ id, name, title }: CallNames): NamedCall {
  return { callId: id, name, ...(title !== undefined && { title }) }
}

/** A tool's name for people, if it has one. @param titles by tool name */
export function titled(titles: ReadonlyMap<string, string>, name: string): { title?: string } {
  const title = titles.get(name)
  return title === undefined ? {} : { title: brief(title, TITLE_SHOWN) }
}
