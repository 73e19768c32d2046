/** The arguments and results of calls as text. Pure. */
import { parse } from 'partial-json'
import { isObject } from '../../core/is-object.ts'
import type { Card } from './entries.ts'

/** The arguments of a call: as the model wrote them, if they can be read, otherwise as people are shown them. */
export function argumentsOf({ arguments: written, params }: Card): unknown {
  if (written === '') return params
  try {
    return parse(written) as unknown
  } catch {
    return params ?? written
  }
}

/** The arguments in one line; if there is only one, without its name. @example briefArguments({ path: 'a.ts' }) // 'a.ts' */
export function briefArguments(args: unknown): string {
  if (!isObject(args)) return args === undefined ? '' : oneLine(textOf(args))
  const named = Object.entries(args).filter(([, value]) => value !== undefined && value !== '')
  const [only] = named
  if (only && named.length === 1) return oneLine(textOf(only[1]))
  return named.map(([name, value]) => `${name} ${oneLine(textOf(value)).slice(0, 80)}`).join(' · ')
}

/** Text as it is, everything else as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  return isEmpty(value) ? '' : JSON.stringify(value, undefined, 2)
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200)
}
