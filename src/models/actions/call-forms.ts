/**
 * The forms in which models write a call as JSON: our own, and those that open models were trained on. Another form
 * than our own counts only when it can mean nothing but a call: its tool exists, and all its keys are keys of a call.
 */
import { isObject } from '../../core/is-object.ts'
import type { ToolSpec } from '../../core/model.ts'
import { parseObject } from './extract-json.ts'

export interface Call {
  name: string
  /** JSON; undefined if the model wrote no JSON object. */
  arguments: string | undefined
  /** The call has our own form. Only one call of this form runs per reply. */
  own: boolean
}

/** The keys of a call that hold the tool's name, and those that hold its arguments. */
export const NAMES: readonly string[] = ['name', 'tool', 'tool_name', 'function']
export const ARGUMENTS: readonly string[] = ['arguments', 'parameters', 'input', 'args']
const OTHERS = ['id', 'type', 'index', 'call_id', 'tool_call_id']

export interface Form {
  tools: readonly ToolSpec[]
  /** A mark stands before the object, so it is a call in any case. */
  marked: boolean
  /** The tool, if the mark names it. The object then holds the tool's arguments. */
  name?: string
}

/** The calls that an object means; empty when it is no call. */
export function readCalls(object: Record<string, unknown>, { tools, marked, name }: Form): Call[] {
  if (name !== undefined) return [{ name, arguments: JSON.stringify(object), own: false }]
  const { action, ...rest } = object
  if (typeof action === 'string' && action !== '') return [readOwn(action, rest, tools)]
  const list = object['tool_calls']
  if (!Array.isArray(list)) return readForeign(object, marked)
  const calls = list.map((one: unknown) => (isObject(one) ? readForeign(one, true) : []))
  return calls.every((one) => one.length > 0) ? calls.flat() : []
}

function readOwn(name: string, rest: Record<string, unknown>, tools: readonly ToolSpec[]): Call {
  const { params, ...others } = rest
  const nested = isObject(params) && Object.keys(others).length === 0 && isNested(name, params, tools)
  return { name, arguments: JSON.stringify(nested ? params : rest), own: true }
}

/**
 * A tool may have its own parameter `params`. Then `params` is the nested form only when it cannot be that parameter.
 */
function isNested(toolName: string, params: Record<string, unknown>, tools: readonly ToolSpec[]): boolean {
  return !mayHoldParams(toolName, tools) || 'params' in params || 'action' in params
}

/** Whether a tool has a parameter `params` of its own. */
export function mayHoldParams(toolName: string, tools: readonly ToolSpec[]): boolean {
  const properties = tools.find(({ name }) => name === toolName)?.parameters['properties']
  return isObject(properties) && 'params' in properties
}

/** @param certain the object stands where only a call may stand. So its arguments may be missing or wrong */
function readForeign(object: Record<string, unknown>, certain: boolean): Call[] {
  const keys = Object.keys(object)
  const [nameKey, ...moreNames] = keys.filter((key) => NAMES.includes(key))
  const [argsKey, ...moreArgs] = keys.filter((key) => ARGUMENTS.includes(key))
  const known = keys.every((key) => NAMES.includes(key) || ARGUMENTS.includes(key) || OTHERS.includes(key))
  if (!nameKey || moreNames.length > 0 || moreArgs.length > 0 || !known) return []
  const name = object[nameKey]
  const args = argsKey && object[argsKey]
  if (isObject(name)) return nameKey === 'function' && !argsKey ? readForeign(name, certain) : []
  if (typeof name !== 'string' || name === '') return []
  const value = toObject(args)
  if (!certain && (!argsKey || !value || isDefinition(value))) return []
  return [{ name, arguments: value && JSON.stringify(value), own: false }]
}

function toObject(args: unknown): Record<string, unknown> | undefined {
  if (typeof args === 'string') return args.trim() === '' ? {} : (parseObject(args.trim()) ?? undefined)
  if (args === undefined || args === null) return {}
  return isObject(args) ? args : undefined
}

/**
 * Whether this is the JSON Schema of a tool's arguments. A text that describes a tool has a name and parameters too.
 */
function isDefinition(args: Record<string, unknown>): boolean {
  return args['type'] === 'object' && isObject(args['properties'])
}
