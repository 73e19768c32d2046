/** A tool as a class with two channels: `setToolResult` to the model, `sendToolStatus` to people. */
import { StelloError } from '../core/errors.ts'
import type { DescriptionLike } from './description.ts'
import type { Validated } from './precondition.ts'
import type { ToolStatus, ToolStatusOptions } from './tool-status.ts'
import type { Effect, Kind, ToolAnnotations, ToolContext } from './tool.ts'
import type { Duration } from '../core/duration.ts'
import type { RetrySettings } from '../core/retries.ts'

/**
 * Extend it, and give the class to `agent.registerTool`: each call has an instance of its own, which sees the arguments
 * stream in (`isPartial` is true: show something, do nothing) and then does the work.
 *
 * @example
 * class Weather extends BaseTool<{ city: string }> {
 *   name = 'get_weather'
 *   async getDescription() { return { displayName: 'Weather', description: 'The weather in a city' } }
 *   async getParameters() { return z.object({ city: z.enum(await knownCities()) }) }
 *   async execute({ city }: { city: string }, ctx: ToolContext, isPartial: boolean) {
 *     await this.sendToolStatus(ctx.requestId, isPartial ? ToolStatus.WAIT : ToolStatus.DOING, { showTip: `Asking for ${city}` })
 *     if (isPartial) return
 *     await this.setToolResult(await forecast(city))
 *   }
 * }
 */
export abstract class BaseTool<Input = Record<string, unknown>> {
  /** 1 to 64 letters, digits, `_` or `-`. */
  abstract readonly name: string
  /** Its name for people. */
  readonly displayName?: string
  /** Hints for retries and for people. */
  readonly annotations?: ToolAnnotations
  /** Whether a repetition does harm, see `ToolLike`. */
  readonly effect?: Effect
  /** What the tool needs permission for, see `ToolLike`. */
  readonly kind?: Kind
  /** How long one call may take. Default: the agent's `toolTimeout`. */
  readonly timeout?: Duration
  /** How often a failed call is tried, and after what wait, where it may be repeated. Default: the agent's `retries.tools`. */
  readonly retries?: RetrySettings
  /** The context of the call that this instance serves; the runtime sets it. */
  stelloCall: ToolContext | undefined = undefined

  /** Tells the model what the tool does and when to use it. */
  abstract getDescription(): Promise<DescriptionLike>
  /** Zod, JSON Schema, TypeBox or a Standard Schema. */
  abstract getParameters(): Promise<unknown>
  /** Does the work. While `isPartial` is true the arguments are still arriving: it may only tell people. */
  abstract execute(params: Input, ctx: ToolContext, isPartial: boolean): Promise<void>
  /** A demand on the world: the form of the arguments was checked against `getParameters`. */
  async validate(_params: Input): Promise<Validated> {
    return { valid: true }
  }
  /** Called when the call has ended, whatever its result. */
  async dispose(): Promise<void> {}

  /** Sets what the model reads. A call that ends without a result is an error for the model. */
  protected async setToolResult(result: unknown): Promise<void> {
    await callOf(this).setToolResult(result)
  }

  /** Changes the card that people see of the call. */
  protected async sendToolStatus(requestId: string, status: ToolStatus, options?: ToolStatusOptions): Promise<void> {
    await callOf(this).sendToolStatus(requestId, status, options)
  }
}

function callOf({ name, stelloCall }: { name: string; stelloCall: ToolContext | undefined }): ToolContext {
  if (stelloCall) return stelloCall
  throw new StelloError('INVALID_TOOL', `tool "${name}" has no call: its channels are open only while it is executed`)
}
