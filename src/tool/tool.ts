/** The canonical tool: every way of writing one ends in this shape. */
import type { Duration } from '../core/duration.ts'
import type { Message, Part } from '../core/message.ts'
import type { JsonSchema } from '../core/model.ts'
import type { ToolStatus, ToolStatusOptions } from './tool-status.ts'

/** Whether a tool may be repeated: it changes nothing, a repetition does no harm, or a repetition does harm. */
export type Effect = 'pure' | 'idempotent' | 'non_idempotent'
/** What a tool needs permission for: to read, to write, or to run something. */
export type Kind = 'readonly' | 'write' | 'execute'

/** Hints about a tool, named as in the Model Context Protocol. */
export interface ToolAnnotations {
  /** It changes nothing. */
  readOnlyHint?: boolean
  /** A repetition does no harm. */
  idempotentHint?: boolean
  /** Its name for people. */
  title?: string
}

/** Which session it is, where it stands in its tree, and whose it is: what all user code is told of a session. */
export interface SessionFacts {
  /** The session's id. */
  sessionId: string
  /** The session the tree grew from; a root's own id. */
  rootId: string
  /** Unset for a root. */
  parentId?: string
  /** 0 for a root. */
  depth: number
  /** Given when the root was created; the same in the whole tree. Fit to be the name of a folder. */
  userId?: string
  /** The fork profile whose rules bind it: the one it was created with, else that of its parent. */
  profile?: string
}

/** What a tool is told before there is a call: whoever makes or describes it may need to know for whom. */
export interface SessionContext extends SessionFacts {
  /** The permission mode of the session, as a hint; nothing enforces it yet. */
  permissionMode?: string
  /** Fires on the user's cancel, on the tool's time-out and on shutdown; never because Temporal was away. */
  signal: AbortSignal
}

/** What a running tool knows of its call. One object for all ways of writing a tool. */
export interface ToolContext extends SessionContext {
  /** The user message this turn answers. */
  messageId: string
  /** Stable over retries and crashes; the same as `callId`. */
  requestId: string
  /** The id of the call. */
  callId: string
  /** Stable over every repetition of this call: hand it to services that can deduplicate. */
  idempotencyKey: string
  /** What was said up to this call. Unset while its arguments still stream in. */
  contextSnapshot?: { readonly messages: readonly Message[] }
  /** The session's stored configuration. */
  bladeConfig?: Readonly<Record<string, unknown>>
  /** Never set yet: nobody can be asked from inside a tool. */
  confirmationHandler?: (request: unknown) => Promise<boolean>
  /** To the model: the call's result, in any shape a tool may return. Set twice, the last counts; it beats what is returned. */
  setToolResult(result: unknown): Promise<void>
  /** To people: the call's card. `requestId` is the context's. SUCCESS and ERROR are shown when the call has ended. */
  sendToolStatus(requestId: string, status: ToolStatus, options?: ToolStatusOptions): Promise<void>
  /** To people, while the tool runs: each of the three replaces what it told before, and may be dropped when it comes too often. */
  onUpdate(update: unknown): void
  /** One line about how far it is. */
  onProgress(message: string): void
  /** The output so far, whole. */
  updateOutput(output: string): void
}

/** What `verify` found out about a call whose end nobody knows. */
export type Verification =
  /** It took effect; `result` is what `execute` would have returned. */
  | { happened: true; result?: unknown }
  /** It did not: the tool is run. */
  | { happened: false }

/** Returning nothing means that it cannot be found out. */
export type Verified = Verification | undefined | void

/** When nobody knows whether a call took effect: the model reads so, or a person is asked. */
export type OnUnknownOutcome = 'report' | 'ask'

/**
 * The check of a tool's arguments; it never throws, and changes nothing. With `quick` it takes a time that the length of
 * the arguments bounds; unset: not known.
 */
export type Check = ((args: unknown) => Checked) & { readonly quick?: boolean }

/** Arguments that passed the check, or what is wrong with them, for the model. */
export type Checked = { ok: true; value: unknown } | { ok: false; problem: string }

/** A tool in its canonical form: what `toTool` makes of every way of writing one. */
export interface Tool {
  /** 1 to 64 letters, digits, `_` or `-`. */
  name: string
  /** What the model reads of it. */
  description: string
  /** What the author gave: Zod, JSON Schema, TypeBox, a Standard Schema. */
  inputSchema: unknown
  /** The JSON Schema the model sees: always `type: 'object'` at the top. */
  parameters: JsonSchema
  /** Hints for retries and for people. */
  annotations: ToolAnnotations
  /** Whether it may be repeated. */
  effect: Effect
  /** What it needs permission for. */
  kind: Kind
  /** Milliseconds; unset = the agent's. */
  timeoutMs?: number
  /** Unset = `report`. Only for `non_idempotent`: what may be repeated is repeated. */
  onUnknownOutcome?: OnUnknownOutcome
  /** Renames aliases, validates, and repairs what can be. */
  readonly check: Check
  /** Runs inside the time-out, right before `execute`, which does not run when this throws. */
  precondition?(args: unknown, ctx: ToolContext): Promise<void>
  /** Asked before `onUnknownOutcome`, under the tool's time-out. */
  verify?(args: unknown, ctx: ToolContext): Promise<Verified>
  /** Told of the arguments while they stream in. Unset: not interested. */
  onPartial?(args: unknown, ctx: ToolContext): Promise<void>
  /** May return any of the seeds' result shapes; `normalizeResult` is the only reader. */
  execute(args: unknown, ctx: ToolContext): Promise<unknown>
  /** `channel`: the result is what `ctx.setToolResult` was given, and its absence is an error. */
  answersBy?: 'channel'
  /**
   * Set when description and parameters are known only when they are needed, or each call has an instance of its own:
   * `description`, `parameters` and `check` of this tool say nothing then, those of the opened one count.
   */
  open?(ctx: SessionContext): Promise<OpenTool>
}

/** A tool as it is for one model call or one tool call. */
export interface OpenTool {
  /** Never dynamic itself. */
  tool: Tool
  /** Ends what was opened for the call. */
  dispose(): Promise<void>
}

/** What a tool written with `tool()` returns. Text alone will do. */
export interface CallToolResult {
  /** What the model reads. */
  content: Part[]
  /** The model is told that the call failed. Default false. */
  isError?: boolean
  /** For people and logs, never for the model. */
  details?: unknown
}

/** What `tool()` takes beside name, description, schema and function. */
export interface ToolExtras<Input = Record<string, unknown>> extends ToolAnnotations {
  /** Whether a repetition does harm. Unset: readOnlyHint or kind readonly → pure, idempotentHint → idempotent, else non_idempotent. */
  effect?: Effect
  /** What the tool needs permission for. Unset: readOnlyHint → readonly, else execute. */
  kind?: Kind
  /** Unset = the agent's `toolTimeout`. */
  timeout?: Duration
  /** What follows when a call's end is unknown and `verify` cannot tell. Unset = `report`. */
  onUnknownOutcome?: OnUnknownOutcome
  /**
   * Finds out whether a call took effect whose worker died in the middle of it. Must change nothing; it may be called
   * more than once, and what it throws counts as "cannot be found out".
   */
  verify?(input: Input, ctx: ToolContext): Verified | Promise<Verified>
}
