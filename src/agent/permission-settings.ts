/** What an agent states about permissions, and the functions of its author that take part in a call. */
import { durationText, toWaitMs, type Duration } from '../core/duration.ts'
import { messageOf } from '../core/errors.ts'
import { isObject } from '../core/is-object.ts'
import { rulesProblem } from '../permissions/rules.ts'
import { permissionModeProblem } from '../protocol/permission-mode.ts'
import { RULE_LISTS, type PermissionRules } from '../protocol/permission-rules.ts'
import type { Expiry } from '../protocol/pending.ts'
import type { Kind, SessionFacts } from '../tool/tool.ts'
import type { Touch } from '../tool/touch.ts'

/** Which calls run without a question. `{}`: what only reads runs, and everything else asks a person. */
export interface PermissionSettings extends PermissionRules {
  /** The mode of sessions that are created without one. Default `default`. */
  mode?: string
}

/** The permissions of an agent. */
export interface AgentPermissions extends PermissionSettings {
  /** How long a call waits for a person's permission: milliseconds, or text such as `'2 days'`, at most a year. Unset: for ever. */
  expiresIn?: Duration
  /** What counts as the answer when nobody has answered by then. `deny` unless stated. */
  default?: 'deny' | 'approve'
}

/** A call that a function of the author is asked about. */
export interface HookedCall {
  /** The tool's name. */
  name: string
  /** The call's id. */
  callId: string
  /** The checked arguments. A function must not change them. */
  arguments: unknown
  /** What the tool needs permission for. */
  kind: Kind
  /** What the call would touch, where the tool says so. */
  touches: readonly Touch[]
  /** The session of the call. */
  session: SessionFacts
  /** Fires on the user's cancel, on the tool's time-out and on shutdown. */
  signal: AbortSignal
}

/** What `canUseTool` says. */
export type CanUse =
  /** The call runs. `updatedInput`: with these arguments, which are checked again, and against deny rules too. */
  | { behavior: 'allow'; updatedInput?: unknown }
  /** The model reads `message`. `interrupt`: the turn ends with it. */
  | { behavior: 'deny'; message?: string; interrupt?: boolean }
  /** It has no say: a person decides, or a rule of a skill in force that allows the call. */
  | { behavior: 'ask' }

/** Functions of the author that take part in the calls of an agent's sessions. */
export interface ToolHooks {
  /**
   * Decides about a call that rules and mode would ask about, or that only a skill allows. It may be asked more than once
   * for a call, and it must change nothing. When it throws, the call is not run, and the model reads why.
   *
   * @example canUseTool: ({ name }) => name === 'deploy' ? { behavior: 'deny', message: 'not today' } : { behavior: 'ask' }
   */
  canUseTool?(call: HookedCall): CanUse | Promise<CanUse>
  /**
   * Stands in for the person who would be asked: true lets the call run, false denies it. It is for programs that ask
   * somebody at their own place, at once. Without it the question is durable and waits in the inbox.
   *
   * @example confirm: async ({ question }) => (await terminal.ask(`${question} [y/n]`)) === 'y'
   */
  confirm?(call: HookedCall & { question: string }): boolean | Promise<boolean>
  /**
   * Told of each call of a tool before it begins. When it throws, the call is not run, and the model reads why.
   *
   * @example beforeTool: ({ name, session }) => console.log(`${session.userId} calls ${name}`)
   */
  beforeTool?(call: HookedCall): void | Promise<void>
  /**
   * Gets what a call of a tool has returned. What this function returns replaces it; `undefined` keeps it.
   *
   * @example afterTool: (call, result) => (typeof result === 'string' ? result.slice(0, 2000) : undefined)
   */
  afterTool?(call: HookedCall, result: unknown): unknown
}

export const HOOKS = ['canUseTool', 'confirm', 'beforeTool', 'afterTool'] as const

/** What is wrong with permissions, as text that begins with their name. */
export function permissionsProblem(stated: unknown): string | undefined {
  if (stated === undefined) return undefined
  const problem = rulesProblem(stated) ?? (isObject(stated) ? fieldProblem(stated) : undefined)
  return problem && `permissions: ${problem}`
}

/** What is wrong with the permissions of an agent. */
export function agentPermissionsProblem(stated: unknown): string | undefined {
  if (!isObject(stated)) return permissionsProblem(stated)
  const { expiresIn, default: otherwise, ...rest } = stated
  const problem = permissionsProblem(rest)
  if (problem !== undefined) return problem
  if (otherwise !== undefined && !DEFAULTS.some((word) => word === otherwise))
    return `permissions: default: must be ${DEFAULTS.join(' or ')}`
  if (expiresIn === undefined)
    return otherwise === undefined ? undefined : 'permissions: default: without expiresIn, a call waits for ever'
  try {
    toWaitMs(expiresIn as Duration, 'permissions: expiresIn')
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

const DEFAULTS = ['deny', 'approve'] as const

/** How long a call waits for permission, and what counts as the answer then. @returns undefined: it waits for ever */
export function approvalExpiry({ expiresIn, default: decision = 'deny' }: AgentPermissions = {}): Expiry | undefined {
  if (expiresIn === undefined) return undefined
  const inMs = toWaitMs(expiresIn, 'permissions: expiresIn')
  const why = `nobody has answered within ${durationText(inMs)}`
  return { inMs, otherwise: { decision, ...(decision === 'deny' && { text: why }) } }
}

function fieldProblem({ mode, ...rest }: Record<string, unknown>): string | undefined {
  const other = Object.keys(rest).find((field) => !RULE_LISTS.some((list) => list === field))
  if (other !== undefined) return `"${other}" is no field of it: mode, ${RULE_LISTS.join(', ')}`
  const wrong = mode === undefined ? undefined : permissionModeProblem(mode)
  return wrong && `mode: ${wrong}`
}

/** Only the stated functions: they are looked up with every call. */
export function statedHooks(given: ToolHooks): ToolHooks {
  return Object.freeze(Object.fromEntries(HOOKS.flatMap((name) => (given[name] ? [[name, given[name]]] : []))))
}

export function hooksProblem(hooks: ToolHooks): string | undefined {
  const wrong = HOOKS.find((name) => !['undefined', 'function'].includes(typeof hooks[name]))
  return wrong && `${wrong}: must be a function`
}

/** `canUseTool` and `confirm` do nothing while permissions are off, so stating one of them switches permissions on. */
export function statedPermissions({
  permissions,
  canUseTool,
  confirm,
}: ToolHooks & { permissions?: AgentPermissions }): AgentPermissions | undefined {
  if (permissions) return Object.freeze({ ...permissions })
  return canUseTool || confirm ? Object.freeze({}) : undefined
}

/** The rules that hold in a session, from the agent's to those of the profiles above it. A call must pass all of them. */
export function permissionLayers(
  agent: { permissions?: PermissionRules },
  session: { permissions?: readonly PermissionRules[] },
): PermissionRules[] {
  return [...(agent.permissions ? [agent.permissions] : []), ...(session.permissions ?? [])]
}
