/**
 * JSON text that refuses instead of dropping things: `JSON.stringify` leaves out functions, and makes `{}` of a Map, a
 * Promise or a Response. An error becomes its message.
 */
import { messageOf } from './errors.ts'

/**
 * @throws Error naming the field that is not JSON
 * @example toJson({ at: 1n }) // Error: "at" is a bigint
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (key, field: unknown) => {
    if (field instanceof Error) return messageOf(field)
    const kind = notJson(field)
    if (kind) throw new Error(key === '' ? `it is a ${kind}` : `"${key}" is a ${kind}`)
    return field
  })
}

const INSTEAD = '; await or read it, and return what it holds'

function notJson(value: unknown): string | undefined {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return typeof value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (!isStillToCome(value) && !showsNothing(value)) return undefined
  // Nobody waits for this promise: its failure must not end the process.
  if (value instanceof Promise) value.catch(() => undefined)
  return `${nameOf(value)}${INSTEAD}`
}

/** Promises, streams, asynchronous generators: their content is not there yet, whatever fields they have. */
function isStillToCome(value: object): boolean {
  const { then, pipe } = value as { then?: unknown; pipe?: unknown }
  return typeof then === 'function' || typeof pipe === 'function' || Symbol.asyncIterator in value
}

/** An instance without own fields would become `{}`, whatever it holds: a Map, a generator, a Response. */
function showsNothing(value: object): boolean {
  if (Object.keys(value).length > 0 || BOXED.includes(nameOf(value))) return false
  return !isPlain(value) || Symbol.iterator in value
}

/** `Object(5)`: JSON writes the value in it. */
const BOXED = ['Number', 'Boolean', 'String']

/** A plain object, also of another realm: its prototype has no prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function nameOf(value: object): string {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  return tag === 'Object' ? String(value.constructor?.name ?? 'stream') : tag
}
