/**
 * The only converter: it makes a `Tool` of whatever an author wrote as one. Other forms are rewritten to `ToolLike`.
 */
import { applyAliases, checkAliases } from './aliases.ts'
import { checkOf } from './check-arguments.ts'
import { describe, isDescription } from './description.ts'
import { toMs } from '../core/duration.ts'
import { isDynamic, toDynamicTool } from './dynamic-tool.ts'
import type { ToolLike } from './any-tool.ts'
import { StelloError } from '../core/errors.ts'
import { demand } from './precondition.ts'
import { toRetries } from '../core/retries.ts'
import { toJsonSchema } from './to-json-schema.ts'
import type { Effect, Kind, OnUnknownOutcome, Tool, ToolAnnotations } from './tool.ts'

/** The author's object behind each tool. */
const origins = new WeakMap<Tool, unknown>()

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const EFFECTS: readonly unknown[] = ['pure', 'idempotent', 'non_idempotent'] satisfies Effect[]
const KINDS: readonly unknown[] = ['readonly', 'write', 'execute'] satisfies Kind[]
const UNKNOWN: readonly unknown[] = ['report', 'ask'] satisfies OnUnknownOutcome[]

/**
 * The canonical form of a tool; a `Tool` is returned as it is.
 *
 * @throws StelloError INVALID_TOOL naming the tool and the field
 * @example toTool({ name: 'ping', description: 'Is it there?', parameters: { type: 'object' }, execute: () => 'pong' })
 */
export function toTool(anything: unknown): Tool {
  if (isTool(anything)) return anything
  const tool = isDynamic(anything) ? toDynamicTool(anything, toTool) : convert(anything)
  origins.set(tool, anything)
  return tool
}

/** Whether both are the same tool. A tool may be in several lists, and each list converts it. */
export function isSameTool(a: Tool, b: Tool): boolean {
  return a === b || (origins.has(a) && origins.get(a) === origins.get(b))
}

function convert(anything: unknown): Tool {
  const like = readToolLike(anything)
  const where = `tool "${like.name}"`
  const { annotations = {}, displayName: title = like.label, timeout = like.timeoutMs } = like
  const inputSchema = like.inputSchema ?? like.parameters ?? like.schema
  const parameters = toJsonSchema(inputSchema, where)
  const aliases = like.aliases && checkAliases(like.aliases, parameters, where)
  const rename = (args: unknown): unknown => (aliases ? applyAliases(args, aliases) : args)
  return {
    name: like.name,
    description: describe(like.description),
    inputSchema,
    parameters,
    annotations: title === undefined ? annotations : { title, ...annotations },
    effect: like.effect ?? effectOf(annotations, like.kind),
    kind: like.kind ?? (annotations.readOnlyHint ? 'readonly' : 'execute'),
    ...(timeout === undefined ? {} : { timeoutMs: toMs(timeout, `${where}: timeout`, 'INVALID_TOOL') }),
    ...(like.retries !== undefined && { retries: toRetries(like.retries, `${where}: retries`, 'INVALID_TOOL') }),
    ...(like.onUnknownOutcome === undefined ? {} : { onUnknownOutcome: like.onUnknownOutcome }),
    ...(like.ordered && { ordered: true as const }),
    ...(like.runsIn && { runsIn: like.runsIn }),
    check: checkOf(inputSchema, parameters, rename),
    // The arguments were checked, so they are an object. The functions are called as methods, so that classes keep
    // their `this`.
    ...(like.validate && {
      precondition: (args, ctx) => demand(async () => like.validate?.(args as Record<string, unknown>, ctx)),
    }),
    ...(like.onPartial && {
      onPartial: async (args, ctx) => like.onPartial?.(rename(args) as Record<string, unknown>, ctx),
    }),
    ...(like.touches && { touches: async (args, ctx) => like.touches?.(args as Record<string, unknown>, ctx) ?? [] }),
    ...(like.verify && { verify: async (args, ctx) => like.verify?.(args as Record<string, unknown>, ctx) }),
    execute: async (args, ctx) => like.execute(args as Record<string, unknown>, ctx),
  }
}

function effectOf(annotations: ToolAnnotations, kind: Kind | undefined): Effect {
  if (annotations.readOnlyHint || kind === 'readonly') return 'pure'
  return annotations.idempotentHint ? 'idempotent' : 'non_idempotent'
}

/** Recognises a tool by its shape, not by its class: tools of another copy of this package are tools too. */
function isTool(value: unknown): value is Tool {
  return (
    isObject(value) &&
    ['check', 'execute'].every((key) => typeof value[key] === 'function') &&
    ['parameters', 'annotations'].every((key) => isObject(value[key])) &&
    EFFECTS.includes(value['effect'])
  )
}

function readToolLike(value: unknown): ToolLike {
  if (!isObject(value)) throw invalid('a tool', `must be an object, not ${value === null ? 'null' : typeof value}`)
  const { name } = value
  if (typeof name !== 'string' || !NAME.test(name)) {
    const shown = typeof name === 'string' ? `"${name.slice(0, 80)}"` : String(name)
    throw invalid(`tool ${shown}`, 'name must be 1 to 64 letters, digits, "_" or "-" (providers refuse others)')
  }
  const where = `tool "${name}"`
  if (!isDescription(value['description'])) {
    throw invalid(where, 'description is missing; say what the tool does, as text or { short, … }')
  }
  if (typeof value['execute'] !== 'function') throw invalid(where, 'execute must be a function')
  for (const optional of ['validate', 'verify', 'onPartial', 'touches']) {
    if (!['undefined', 'function'].includes(typeof value[optional]))
      throw invalid(where, `${optional} must be a function; leave it out when there is none`)
  }
  oneOf(value['effect'], EFFECTS, `${where}: effect`)
  oneOf(value['kind'], KINDS, `${where}: kind`)
  oneOf(value['onUnknownOutcome'], UNKNOWN, `${where}: onUnknownOutcome`)
  oneOf(value['ordered'], [true, false], `${where}: ordered`)
  oneOf(value['runsIn'], ['workspace'], `${where}: runsIn`)
  return value as unknown as ToolLike
}

function oneOf(value: unknown, allowed: readonly unknown[], where: string): void {
  if (value === undefined || allowed.includes(value)) return
  throw new StelloError('INVALID_TOOL', `${where} must be one of ${allowed.join(', ')}, not ${JSON.stringify(value)}`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function invalid(where: string, problem: string): StelloError {
  return new StelloError('INVALID_TOOL', `${where}: ${problem}`)
}
