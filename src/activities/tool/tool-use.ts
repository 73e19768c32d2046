/**
 * One call of a model in one process, from the first of its arguments to its end: one instance of the tool and one card
 * serve all of it. Never lets what streams wait for the tool.
 */
import type { OpenTool, Tool, ToolContext } from '../../tool/tool.ts'
import { sessionOf, type AboutSession } from '../session/about-session.ts'
import type { ToolChannel } from './tool-channel.ts'

/** Given as a reason, since an abort without one takes a stack trace. */
const ENDED = 'ended'

export class ToolUse {
  readonly channel: ToolChannel
  /** Fires when nothing more streams in. */
  readonly #streaming = new AbortController()
  /** Fires when the call has ended before there was an instance. */
  readonly #opening = new AbortController()
  #opened: Promise<OpenTool> | undefined
  #next: { args: unknown; ctx: ToolContext } | undefined
  #telling: Promise<void> | undefined

  constructor(channel: ToolChannel) {
    this.channel = channel
  }

  /** The tool as it is for this call; one that could not be opened is opened anew. */
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

  /** Tells the tool of arguments so far. While it is busy with earlier ones, only the latest are kept for it. */
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
        // Partial arguments are for people's eyes only: the call itself says what is wrong with the tool.
      }
    }
  }

  /** Resolves when the tool is no longer busy with partial arguments: the call must not overtake them. */
  async complete(): Promise<void> {
    this.#streaming.abort(ENDED)
    await this.#telling
  }

  /** Rejects with what the tool's own `dispose` throws. */
  async dispose(): Promise<void> {
    this.#streaming.abort(ENDED)
    this.channel.end()
    // What an instance has opened with its signal stays open for its own `dispose`.
    const unfinished = setImmediate(() => this.#opening.abort(ENDED))
    const opened = await this.#opened?.catch(() => undefined)
    clearImmediate(unfinished)
    await opened?.dispose()
  }
}
