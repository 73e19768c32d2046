/** The shapes an author may write a tool in. `toTool` makes a `Tool` of each. */
import type { Aliases } from './aliases.ts'
import type { DescriptionLike } from './description.ts'
import type { Duration } from '../core/duration.ts'
import type { RetrySettings } from '../core/retries.ts'
import type { Validated } from './precondition.ts'
import type { Touch } from './touch.ts'
import type { Effect, Kind, OnUnknownOutcome, SessionContext, ToolAnnotations, ToolContext, Verified } from './tool.ts'

/** A tool as an author may write it. `Input` is what its schema lets through. */
export interface ToolLike<Input = Record<string, unknown>> {
  /** 1 to 64 letters, digits, `_` or `-`: what providers allow. */
  name: string
  /** Tells the model what the tool does and when to use it. */
  description: DescriptionLike
  /** Zod 4, JSON Schema, TypeBox or a Standard Schema; `parameters` and `schema` are other names for it. */
  inputSchema?: unknown
  /** Another name for `inputSchema`. */
  parameters?: unknown
  /** Another name for `inputSchema`. */
  schema?: unknown
  /** May return any shape `normalizeResult` reads: text, `{ content }`, `{ success, data }`, plain JSON … */
  execute(args: Input, ctx: ToolContext): unknown
  /**
   * A demand on the world, not on the form of the arguments. When it returns `{ valid: false, reason }` or throws,
   * `execute` does not run and the model reads the reason. It may run more than once, so it must not change anything.
   */
  validate?(args: Input, ctx: ToolContext): Validated | Promise<Validated>
  /**
   * Gets the arguments while they stream in, unchecked and incomplete at any depth. It is called now and then, not for
   * each piece. It must do no work, because the call may never come. What it throws is ignored.
   */
  onPartial?(args: Partial<Input>, ctx: ToolContext): void | Promise<void>
  /** Other names of parameters, as models write them: `{ filePath: 'file_path' }`. */
  aliases?: Aliases
  /** Finds out whether a call took effect when nobody knows how it ended; see `ToolExtras`. */
  verify?(args: Input, ctx: ToolContext): Verified | Promise<Verified>
  /** What to do when `verify` is missing or cannot tell. Unset = `report`. */
  onUnknownOutcome?: OnUnknownOutcome
  /** Its calls of one round run one after another, in the order of the calls. Default false. */
  ordered?: boolean
  /** Where a call runs: on the host that has the session's working folder. Unset: on any worker. */
  runsIn?: 'workspace'
  /** What a call would touch, for permission rules. It must change nothing, and may be called more than once. */
  touches?(args: Input, ctx: ToolContext): readonly Touch[] | Promise<readonly Touch[]>
  /** Hints for retries and for people. */
  annotations?: ToolAnnotations
  /** For people; the same as `annotations.title`, which wins. */
  displayName?: string
  /** Another name for `displayName`. */
  label?: string
  /** Whether a repetition does harm: drives retries. Unset: `readOnlyHint` or kind `readonly` → pure, `idempotentHint` → idempotent, else non_idempotent. */
  effect?: Effect
  /** Drives permissions, and `effect` where that is unset. */
  kind?: Kind
  /** How long one call may take. Default: the agent's `toolTimeout`. */
  timeout?: Duration
  /** Another name for `timeout`, milliseconds. */
  timeoutMs?: number
  /** How often a failed call is tried, and after what wait, where it may be repeated. Default: the agent's `retries.tools`. */
  retries?: RetrySettings
  // These absent fields tell it from the other forms, so that TypeScript knows the input of an `execute` written in a
  // list.
  /** Only a dynamic tool has it. */
  getDescription?: undefined
  /** Only a factory has it. */
  factory?: undefined
}

/** The facts about a tool that must be known before there is an instance. */
export type ToolFacts = Pick<
  ToolLike,
  | 'name'
  | 'displayName'
  | 'annotations'
  | 'effect'
  | 'kind'
  | 'timeout'
  | 'timeoutMs'
  | 'retries'
  | 'onUnknownOutcome'
  | 'ordered'
  | 'runsIn'
>

/**
 * A tool that is asked at run time what it does and which arguments it takes. Its result is what `ctx.setToolResult`
 * was given.
 */
export interface DynamicTool<Input = Record<string, unknown>>
  extends ToolFacts, Pick<ToolLike<Input>, 'aliases' | 'verify'> {
  /** Asked before every model call: what the tool does and when to use it. */
  getDescription(): DescriptionLike | Promise<DescriptionLike>
  /** Zod, JSON Schema, TypeBox or a Standard Schema, or a promise of one. */
  getParameters(): unknown
  /**
   * With a third parameter it is also called while the arguments stream in: `isPartial` is true then, and nothing must
   * be done but telling people.
   */
  execute(params: Input, ctx: ToolContext, isPartial: boolean): unknown
  /** A demand on the world, asked right before `execute`: see `ToolLike`. */
  validate?(params: Input, ctx: ToolContext): Validated | Promise<Validated>
  /** Called when the call, or the look at the description, has ended. */
  dispose?(): unknown
  /** Only a factory has it. */
  factory?: undefined
}

/** Makes an instance for each call, and one for each look at description and parameters. */
export interface ToolFactory extends ToolFacts {
  /** May connect somewhere: `dispose` of what it returns is called when the call has ended. */
  factory(ctx: SessionContext): object | Promise<object>
  /** Only a dynamic tool has it. */
  getDescription?: undefined
}

/**
 * A class. One instance is made at registration, to read its name, so a constructor must not connect to anything: use a
 * factory for that.
 */
export interface ToolClass {
  /** Makes the instance of one call. */
  new (): { name: string }
  /** Only a factory has it. */
  factory?: undefined
  /** Only a dynamic tool has it. */
  getDescription?: undefined
}

/** Everything `toTool` takes. */
export type AnyTool = ToolLike | DynamicTool | ToolFactory | ToolClass
