/**
 * The values of the session as one attempt at a call sees them. What the attempt sets is kept here until the call is
 * settled, so an attempt that fails or asks a person leaves no values.
 */
import { storableJson } from '../../core/clean.ts'
import { StelloError, messageOf } from '../../core/errors.ts'
import { UNSTORABLE } from '../../core/message.ts'
import { toJson } from '../../core/to-json.ts'
import type { NewValue } from '../../store/transcript/values.ts'
import type { SessionValues } from '../../tool/session-values.ts'

const NAME_LIMIT = 100
const KIB = 1024
const VALUE_LIMIT = 256 * KIB

export class CallValues implements SessionValues {
  readonly #read: (name: string) => Promise<unknown>
  /** As JSON, so nobody changes them later. */
  readonly #set = new Map<string, string>()

  /** @param read the value as the calls before this one have left it */
  constructor(read: (name: string) => Promise<unknown>) {
    this.#read = read
  }

  async get(name: string): Promise<unknown> {
    const set = this.#set.get(checkedName(name))
    return set === undefined ? this.#read(name) : (JSON.parse(set) ?? undefined)
  }

  set(name: string, value: unknown): void {
    this.#set.set(checkedName(name), checkedValue(name, value))
  }

  delete(name: string): void {
    this.set(name, null)
  }

  changes(): NewValue[] {
    return [...this.#set].map(([name, json]) => ({ name, value: JSON.parse(json) as unknown }))
  }
}

function checkedName(name: unknown): string {
  if (typeof name === 'string' && name !== '' && name.length <= NAME_LIMIT && !UNSTORABLE.test(name)) return name
  const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, NAME_LIMIT)) : `a ${typeof name}`
  throw new StelloError(
    'INVALID_ARGUMENT',
    `ctx.values: the name of a value must have 1 to ${NAME_LIMIT} characters, without NUL; it is ${shown}`,
  )
}

function checkedValue(name: string, value: unknown): string {
  const json = asJson(name, value)
  const size = Buffer.byteLength(json)
  if (size <= VALUE_LIMIT) return json
  throw refused(name, `has ${Math.ceil(size / KIB)} KiB; keep at most ${VALUE_LIMIT / KIB} KiB, and the rest in a file`)
}

function asJson(name: string, value: unknown): string {
  if (value === undefined) throw refused(name, 'is undefined; to remove it, call delete')
  try {
    return storableJson(JSON.parse(toJson(value)))
  } catch (error) {
    throw refused(name, `is not plain JSON: ${messageOf(error)}`)
  }
}

function refused(name: string, why: string): StelloError {
  return new StelloError('INVALID_ARGUMENT', `ctx.values.set: the value "${name}" ${why}`)
}
