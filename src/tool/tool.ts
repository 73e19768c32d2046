/** The canonical tool: every way of writing one ends in this shape. */
import type { Duration } from '../core/duration.ts'
import type { Retries, RetrySettings } from '../core/retries.ts'
import type { Message, Part } from '../core/message.ts'
import type { CallAgents } from './call-agents.ts'
import type { JsonSchema, ToolSpec } from '../core/model.ts'
import type { Skill } from '../core/skill.ts'
import type { PersonAnswer, PersonQuestion } from './person.ts'
import type { SessionValues } from './session-values.ts'
import type { ToolStatus, ToolStatusOptions } from './tool-status.ts'
import type { Ruled, Touch } from './touch.ts'

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

/** What all user code is told about its session: its id, its place in the tree, and its user. */
export interface SessionFacts {
  /** The session's id. */
  sessionId: string
  /** The session the tree grew from; a root's own id. */
  rootId: string
  /** Unset for a root. */
  parentId?: string
  /** 0 for a root. */
  depth: number
  /** Given when the root was created; the same in the whole tree. It is a valid name of a folder. */
  userId?: string
  /** The fork profile whose rules apply: the one the session was created with, else its parent's. */
  profile?: string
}

/** What a tool is told before there is a call. A factory or a description may depend on the session. */
export interface SessionContext extends SessionFacts {
  /** The permission mode of the session. Unset: permissions are off. */
  permissionMode?: string
  /** Fires on the user's cancel, on the tool's time-out and on shutdown; never because Temporal was away. */
  signal: AbortSignal
}

/** What a running tool knows about its call. There is one such object for all ways of writing a tool. */
export interface ToolContext extends SessionContext {
  /** The user message this turn answers. */
  messageId: string
  /** Stable over retries and crashes; the same as `callId`. */
  requestId: string
  /** The id of the call. */
  callId: string
  /** Stable over every repetition of this call: hand it to services that can deduplicate. */
  idempotencyKey: string
  /** The conversation up to this call. Unset while the arguments still stream in. */
  contextSnapshot?: { readonly messages: readonly Message[] }
  /** The session's stored configuration. */
  bladeConfig?: Readonly<Record<string, unknown>>
  /**
   * Asks a person for a plain yes, as `ask` does: true only if the answer is "Yes". `request` is a text, or an object with
   * `title`, `message` and what else people should see. With `expiresIn` it waits so long, and is then its `default`,
   * true or false; without, it waits as the permissions of the agent do. Unset while the arguments still stream in.
   *
   * @example const sure = await ctx.confirmationHandler?.('Delete 3 files?')
   */
  confirmationHandler?: (request: unknown) => Promise<boolean>
  /** Small values of the session that tools keep. */
  values: SessionValues
  /** Child sessions that may be asked again and again. */
  agents: CallAgents
  /** The skills that the session may load. */
  skills: readonly Skill[]
  /**
   * All tools that the session may use, with those that its model is not shown yet.
   *
   * @example const names = (await ctx.listTools()).map(({ name }) => name)
   */
  listTools(): Promise<readonly ToolSpec[]>
  /** The working folder of the session. Unset: it has none. */
  workspace?: { id: string; root: string }
  /**
   * Whether permission rules let a file be read. A tool that searches leaves out all other files. Unset: every file may be
   * read.
   *
   * @param path absolute, without links @param root the folder that patterns of rules are relative to
   * @example const shown = paths.filter((path) => ctx.mayRead?.(path) ?? true)
   */
  mayRead?(path: string, root?: string): boolean
  /**
   * What permission rules say of something that a call meets only while it runs, such as the address that a page redirects
   * to. An action that a rule denies must not be done. An action that a rule asks about needs a call of its own,
   * which a person can permit. Unset: no rule denies or asks.
   *
   * @param tool the tool whose rules count
   * @returns undefined: no rule denies it or asks about it
   * @example ctx.ruled?.('WebFetch', { kind: 'url', url: 'https://example.com' })?.decision === 'deny'
   */
  ruled?(tool: string, touch: Touch): Ruled | undefined
  /**
   * Asks a person. The call then waits without a worker, for weeks if need be; after the answer it runs again from its
   * beginning, and the same question returns the answer. So ask before anything is changed.
   *
   * @throws StelloError TOOL_PERMISSION_DENIED where nobody is asked (mode `dontAsk`)
   * @example const { text } = await ctx.ask({ message: 'Which region?', options: [{ label: 'EU' }, { label: 'US' }] })
   */
  ask(question: PersonQuestion): Promise<PersonAnswer>
  /**
   * Sets what the model reads, in any shape a tool may return. The last one set counts, and it wins over the return
   * value.
   *
   * @example await ctx.setToolResult(`${rows.length} rows`)
   */
  setToolResult(result: unknown): Promise<void>
  /**
   * Changes the card that people see. `requestId` is the context's. SUCCESS and ERROR are shown when the call has
   * ended.
   *
   * @example await ctx.sendToolStatus(ctx.requestId, ToolStatus.DOING, { showTip: 'Asking Berlin' })
   */
  sendToolStatus(requestId: string, status: ToolStatus, options?: ToolStatusOptions): Promise<void>
  /**
   * Tells people something while the tool runs. Each of `onUpdate`, `onProgress` and `updateOutput` replaces what it
   * told before, and a piece may be dropped when they come too often.
   *
   * @example ctx.onUpdate({ percent: 50 })
   */
  onUpdate(update: unknown): void
  /**
   * Tells people in one line how far the tool is.
   *
   * @example ctx.onProgress('3 of 8 pages')
   */
  onProgress(message: string): void
  /**
   * Tells people the whole output so far.
   *
   * @example ctx.updateOutput(lines.join('\n'))
   */
  updateOutput(output: string): void
}

/** What `verify` found out about a call, when nobody knew how it had ended. */
export type Verification =
  /** It took effect; `result` is what `execute` would have returned. */
  | { happened: true; result?: unknown }
  /** It did not take effect: the tool is run. */
  | { happened: false }

/** Returning nothing means that `verify` could not find out. */
export type Verified = Verification | undefined | void

/** What to do when nobody knows whether a call took effect: `report` it to the model, or `ask` a person. */
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
  /** How often a failed call is tried again; what is unset is the agent's. */
  retries?: Partial<Retries>
  /** Unset = `report`. Only for `non_idempotent`: what may be repeated is repeated. */
  onUnknownOutcome?: OnUnknownOutcome
  /** Renames aliases, validates, and repairs what can be. */
  readonly check: Check
  /** Runs inside the time-out, right before `execute`. When it throws, `execute` does not run. */
  precondition?(args: unknown, ctx: ToolContext): Promise<void>
  /** Calls of ordered tools of one round run one after another, in the order of the calls. */
  ordered?: true
  /** The call runs on the host that has the session's working folder. Unset: on any worker. */
  runsIn?: 'workspace'
  /** What a call would touch. It changes nothing. Unset: only the name and kind of the tool are known. */
  touches?(args: unknown, ctx: ToolContext): Promise<readonly Touch[]>
  /** Asked first when the outcome is unknown, under the tool's time-out. */
  verify?(args: unknown, ctx: ToolContext): Promise<Verified>
  /** Gets the arguments while they stream in. Unset: the tool does not want them. */
  onPartial?(args: unknown, ctx: ToolContext): Promise<void>
  /** May return a result of any shape that `normalizeResult` reads. */
  execute(args: unknown, ctx: ToolContext): Promise<unknown>
  /** `channel`: the result is what `ctx.setToolResult` was given; a call without it is an error. */
  answersBy?: 'channel'
  /**
   * Set when description and parameters are known only at run time, or when each call has its own instance. Then
   * `description`, `parameters` and `check` of the opened tool count, not those of this one.
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
  /** How often a failed call is tried, and after what wait, where it may be repeated. Default: the agent's `retries.tools`. */
  retries?: RetrySettings
  /** What to do when nobody knows whether a call took effect, and `verify` cannot tell. Unset = `report`. */
  onUnknownOutcome?: OnUnknownOutcome
  /** Its calls of one round run one after another, in the order of the calls. Default false. */
  ordered?: boolean
  /** Where a call runs. Unset: on any worker. */
  runsIn?: 'workspace'
  /**
   * What a call would touch, for permission rules. It must change nothing, and may be called more than once.
   *
   * @example touches: ({ name }) => [{ kind: 'write', path: join('/srv/reports', name) }]
   */
  touches?(input: Input, ctx: ToolContext): readonly Touch[] | Promise<readonly Touch[]>
  /**
   * Finds out whether a call took effect after its worker died in the middle of it. It must change nothing, and may be
   * called more than once. If it throws, the effect counts as unknown.
   *
   * @example verify: async ({ invoice }) => ({ happened: await bank.isPaid(invoice) })
   */
  verify?(input: Input, ctx: ToolContext): Verified | Promise<Verified>
}
