/**
 * The options of `createSession` and `fork`. They often come from outside, as JSON: only known fields with valid values
 * pass, and the result is a copy. Must import nothing heavy: the command line checks with it too.
 */
import { StelloError } from '../core/errors.ts'
import { boundsProblem, type TreeBounds } from '../protocol/limits.ts'
import { NAME_LIMIT } from '../core/message.ts'
import { sessionIdProblem, userIdProblem } from '../core/path-part.ts'
import { permissionModeProblem } from '../protocol/permission-mode.ts'
import { isNames } from '../protocol/tool-filter.ts'
import type { ForkRequest } from '../protocol/config.ts'
import { isObject } from '../core/is-object.ts'

/** The options of a new session. */
export interface CreateSessionOptions {
  /** Name of the agent; a worker that serves it may be started later. */
  agent: string
  /** Display name, at most 200 characters. Default: the agent's name. */
  label?: string
  /** A fork profile whose model, tools, skills, tool filters, limits and prompt (by its mode) the session gets. */
  profile?: string
  /** Replaces the agent's prompt. If the agent locks its prompt, this one follows it. */
  systemPrompt?: string
  /** Only these tools, of those that agent and profile allow. `stello_create_session` and `activate_skill` stay. */
  allowedTools?: string[]
  /** These tools are never offered, even when `allowedTools` names them. */
  disallowedTools?: string[]
  /**
   * `plan`, `dontAsk`, `default`, `acceptEdits` (`autoEdit`) or `bypassPermissions` (`yolo`): how far it may go without
   * asking. Default: the mode of the agent's `permissions`; without those, every call runs.
   */
  permissionMode?: string
  /** The user of this session and of all below it. Letters, digits, `.`, `_`, `-`, `@`, `+`; at most 100. */
  userId?: string
  /** Bounds of the tree that begins with this session. A bound that is left out is the agent's. */
  bounds?: Partial<TreeBounds>
  /** Default: a new one. Letters, digits, `.`, `_`, `-`; at most 100. */
  sessionId?: string
}

/** The options of a fork. */
export interface ForkOptions extends ForkRequest {
  /**
   * The fork begins after the last finished exchange before this record of the session, and knows nothing that came later.
   * Events name a record by its `seq`. `context` is then `inherit` unless stated. Default: nothing is left out.
   */
  before?: number
  /** Default: a new one. A repeated request with the same id and the same options gives the same fork. */
  sessionId?: string
}

/** Longest prompt, and longest var of a prompt, in UTF-16 units. */
const TEXT_LIMIT = 1024 * 1024

/** The problem with a value, as text that follows the name of its field. */
export type Check = (value: unknown) => string | undefined
export type Checks<Options> = Readonly<Record<keyof Options, Check>>

export const name: Check = (value) => {
  if (typeof value !== 'string' || value.trim() === '') return 'is missing or empty'
  return value.length <= NAME_LIMIT ? undefined : `has ${value.length} characters, more than ${NAME_LIMIT}`
}
const text: Check = (value) => {
  if (typeof value !== 'string') return `must be text, not ${value === null ? 'null' : typeof value}`
  return value.length <= TEXT_LIMIT ? undefined : `has ${value.length} characters, more than ${TEXT_LIMIT}`
}
const names: Check = (value) => (isNames(value) ? undefined : "must be a list of tool names, e.g. ['read_file']")
const vars: Check = (value) => {
  if (!isObject(value)) return 'must be an object of texts'
  const wrong = Object.entries(value).flatMap(([key, each]) => text(each)?.replace(/^/, `"${key}" `) ?? [])
  return wrong[0]
}
const bounds: Check = (value) =>
  isObject(value) ? boundsProblem(value) : 'must be an object, e.g. { maxSessions: 1000 }'
const context: Check = (value) => (value === 'none' || value === 'inherit' ? undefined : 'must be none or inherit')

const record: Check = (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 ? undefined : 'must be the seq of a record, from 1'

const CREATE_SESSION: Checks<CreateSessionOptions> = {
  agent: name,
  label: name,
  profile: name,
  systemPrompt: text,
  allowedTools: names,
  disallowedTools: names,
  permissionMode: permissionModeProblem,
  userId: userIdProblem,
  bounds,
  sessionId: sessionIdProblem,
}
const FORK: Checks<ForkOptions> = {
  label: name,
  profile: name,
  vars,
  systemPrompt: text,
  context,
  prompt: text,
  before: record,
  sessionId: sessionIdProblem,
}

/** @throws StelloError INVALID_ARGUMENT naming the field, and those there are */
export function checkCreateSession(given: unknown): CreateSessionOptions {
  return checked('createSession', given, { checks: CREATE_SESSION, required: 'agent' })
}

/** @throws StelloError INVALID_ARGUMENT */
export function checkBounds(given: Partial<TreeBounds>): void {
  const problem = bounds(given)
  if (problem !== undefined) throw new StelloError('INVALID_ARGUMENT', `bounds: ${problem}`)
}

/** @throws StelloError INVALID_ARGUMENT naming the field, and those there are */
export function checkFork(given: unknown): ForkOptions {
  return checked('fork', given, { checks: FORK, required: 'label' })
}

/** @throws StelloError INVALID_ARGUMENT naming the field, and those there are */
export function checked<Options extends object>(
  what: string,
  given: unknown,
  { checks, required }: { checks: Checks<Options>; required?: keyof Options & string },
): Options {
  if (!isObject(given)) throw invalid(`${what}: needs an object${required ? ` with ${required}` : ''}`, checks)
  const stated = Object.entries(given).filter(([, value]) => value !== undefined)
  const known = required === undefined || stated.some(([field]) => field === required)
  const all = known ? stated : [...stated, [required, undefined] as const]
  for (const [field, value] of all) {
    const check = Object.hasOwn(checks, field) ? checks[field as keyof Options] : () => 'is no field of it'
    const problem = check(value)
    if (problem !== undefined) throw invalid(`${what}: ${field}: ${problem}`, checks)
  }
  return structuredClone(Object.fromEntries(stated)) as Options
}

function invalid(message: string, checks: object): StelloError {
  return new StelloError('INVALID_ARGUMENT', message, { hint: `its fields: ${Object.keys(checks).join(', ')}` })
}
