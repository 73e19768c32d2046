/**
 * One call of a model in one process, from its first piece of arguments to its end. One instance of the tool and one
 * card serve the whole call. The model's stream never waits for the tool.
 */
import type { OpenTool, Tool, ToolContext } from '../../tool/tool.ts'
import { sessionOf, type AboutSession } from '../session/about-session.ts'
import type { ToolChannel } from './tool-channel.ts'

/** The reason of an abort. Without one, each abort would build an error with a stack trace. */
const ENDED = 'ended'

export class ToolInstance {
  readonly channel: ToolChannel
  /** Fires when nothing more streams in. */
  readonly #streaming = new AbortController()
  /** Fires when the call has ended before the tool was opened. */
  readonly #opening = new AbortController()
  #opened: Promise<OpenTool> | undefined
  #next: { args: unknown; ctx: ToolContext } | undefined
  #telling: Promise<void> | undefined

  constructor(channel: ToolChannel) {
    this.channel = channel
  }

  /** Opens the tool for this call, once. If that failed, the next request opens it again. */
  async open(tool: Tool, session: AboutSession): Promise<Tool> {
    if (!tool.open) return tool
    this.#opened ??= tool.open({ ...sessionOf(session), signal: this.#opening.signal })
    try {
      return (await this.#opened).tool
    } catch (error) {
      this.#opened = undefined
      throw error
    }
  }

  /** Tells the tool the arguments so far. While it is busy with earlier ones, only the latest are kept. */
  partial(tool: Tool, args: unknown, ctx: Omit<ToolContext, 'signal'>): void {
    this.#next = { args, ctx: { ...ctx, signal: this.#streaming.signal } }
    this.#telling ??= this.#tell(tool).finally(() => (this.#telling = undefined))
  }

  async #tell(tool: Tool): Promise<void> {
    while (this.#next && !this.#streaming.signal.aborted) {
      const { args, ctx } = this.#next
      this.#next = undefined
      try {
        const opened = await this.open(tool, ctx)
        if (!this.#streaming.signal.aborted) await opened.onPartial?.(args, ctx)
      } catch {
        // Partial arguments are only for display. The call itself reports what is wrong with the tool.
      }
    }
  }

  /** Resolves when the tool has handled its partial arguments. The call must not overtake them. */
  async complete(): Promise<void> {
    this.#streaming.abort(ENDED)
    await this.#telling
  }

  /** Rejects with the error of the tool's own `dispose`. */
  async dispose(): Promise<void> {
    this.#streaming.abort(ENDED)
    this.channel.end()
    // A tool that is open already gets no abort: what it opened with the signal must stay open until its own `dispose`.
    const unfinished = setImmediate(() => this.#opening.abort(ENDED))
    const opened = await this.#opened?.catch(() => undefined)
    clearImmediate(unfinished)
    await opened?.dispose()
  }
}
