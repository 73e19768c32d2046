/**
 * A server as the pack sees it: connected when it is needed, connected again when the connection has ended, with the
 * lists that it gave last. A call is sent once: the tool's effect decides whether it may be sent again.
 */
import type {
  CallToolResult,
  ElicitRequestFormParams,
  ElicitResult,
  Prompt,
  Tool as ServerTool,
} from '@modelcontextprotocol/sdk/types.js'
import { StelloError, isStelloError, messageOf } from '../../core/errors.ts'
import { RetryableError } from '../../core/retryable-error.ts'
import type { Effect, ToolContext } from '../../tool/tool.ts'
import { toElicitResult, toQuestion } from './elicitation.ts'
import type { Link } from './link.ts'
import type { LinkTrouble } from './link-trouble.ts'
import type { McpServer } from './server-options.ts'

/** What a server offers. The same object as long as nothing has changed. */
export interface Offer {
  tools: readonly ServerTool[]
  prompts: readonly Prompt[]
  hasResources: boolean
}

/** How long to wait for a list that has perhaps changed, if an older one is known. Milliseconds. */
const SOON_MS = 2000
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000

/** The tool that is called, by the server's name of it. */
export interface Called {
  tool: string
  /** Decides what an end that nobody knows means. */
  effect: Effect
}

interface Running {
  ctx: ToolContext
  stop: AbortController
  /** What `ctx.ask` threw: it ends the attempt, and the answer comes in the next one. */
  asking?: unknown
}

export class ServerConnection {
  readonly name: string
  readonly #server: McpServer
  readonly #mayAsk: boolean
  readonly #running = new Set<Running>()
  #link: Promise<Link> | undefined
  #checking: Promise<void> | undefined
  #offer: Offer | undefined
  #taking: Promise<Offer> | undefined
  /** The offer is not older than the last change that the server told. */
  #fresh = false
  /** In a row. */
  #failures = 0
  #waitUntil = 0
  #trouble = ''
  #closed = false

  /** @param mayAsk the connection belongs to one session, so that its questions belong to a call of that session */
  constructor(name: string, server: McpServer, mayAsk: boolean) {
    this.name = name
    this.#server = server
    this.#mayAsk = mayAsk
  }

  get server(): McpServer {
    return this.#server
  }

  get busy(): boolean {
    return this.#running.size > 0
  }

  /**
   * The lists of the server. While the server is away, the last lists hold. So a crash takes no tools from a conversation;
   * their calls fail one by one.
   *
   * @throws Error when the server could never be reached
   */
  async offer(): Promise<Offer> {
    const known = this.#offer
    if (known && this.#fresh) return known
    this.#taking ??= this.#take().finally(() => (this.#taking = undefined))
    if (!known) return this.#taking
    return soon(
      this.#taking.catch(() => known),
      known,
    )
  }

  /**
   * @throws RetryableError when nothing was sent; StelloError TOOL_OUTCOME_UNKNOWN, TOOL_EXECUTION_ERROR; what `ctx.ask`
   *   throws, if the server asks a person
   */
  async call(called: Called, args: Record<string, unknown>, ctx: ToolContext): Promise<CallToolResult> {
    const link = await this.reach()
    const running: Running = { ctx, stop: new AbortController() }
    this.#running.add(running)
    try {
      const result = await link.callTool(called.tool, args, {
        signal: AbortSignal.any([ctx.signal, running.stop.signal]),
        idempotencyKey: ctx.idempotencyKey,
        onProgress: ({ progress, total, message }) =>
          ctx.onProgress(message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`),
      })
      this.#failures = 0
      return result
    } catch (error) {
      if (running.asking !== undefined) throw running.asking
      if (!ctx.signal.aborted) throw this.#toError(error as LinkTrouble, called)
      this.#check(link)
      throw error
    } finally {
      this.#running.delete(running)
    }
  }

  /** Runs a request that changes nothing. @throws RetryableError, Error */
  async read<Result>(request: (link: Link) => Promise<Result>): Promise<Result> {
    const link = await this.reach()
    try {
      return await request(link)
    } catch (error) {
      throw this.#toError(error as LinkTrouble, { tool: '', effect: 'pure' })
    }
  }

  /** The live connection, made now if there is none. @throws RetryableError */
  async reach(): Promise<Link> {
    await this.#checking
    const link = (this.#link ??= this.#connect())
    try {
      return await link
    } catch (error) {
      if (this.#link === link) this.#link = undefined
      if (isStelloError(error)) throw error
      const retryAfter = Math.max(1, this.#waitUntil - Date.now())
      throw new RetryableError(`MCP server "${this.name}" cannot be reached: ${messageOf(error)}`, {
        retryAfter,
        cause: error,
      })
    }
  }

  /** For good: later callers must take another connection. */
  async close(): Promise<void> {
    this.#closed = true
    const link = await this.#link?.catch(() => undefined)
    await link?.close()
  }

  async #connect(): Promise<Link> {
    if (this.#closed) throw new Error('the connection was closed')
    const wait = this.#waitUntil - Date.now()
    if (wait > 0) throw new Error(`${this.#trouble}; it is tried again in ${Math.ceil(wait / 1000)} s`)
    try {
      const { Link: loaded } = await import('./link.ts')
      return await loaded.open(this.name, this.#server, {
        changed: () => (this.#fresh = false),
        ended: (why) => this.#lost(why),
        troubled: () => void this.#link?.then((link) => this.#check(link)).catch(() => undefined),
        ...(this.#mayAsk && { elicit: (asked) => this.#elicit(asked) }),
      })
    } catch (error) {
      this.#lost(messageOf(error))
      throw error
    }
  }

  /** The first time the server is connected again at once. */
  #lost(why: string): void {
    this.#link = undefined
    this.#fresh = false
    this.#trouble = why
    const wait = this.#failures === 0 ? 0 : FIRST_WAIT_MS * 2 ** (this.#failures - 1)
    this.#waitUntil = Date.now() + Math.min(wait, LONGEST_WAIT_MS)
    this.#failures++
  }

  /** A server that did not answer may hang for good. No call is sent to it before it has shown that it does not. */
  #check(link: Link): void {
    this.#checking ??= link
      .endIfSilent()
      .catch(() => undefined)
      .finally(() => (this.#checking = undefined))
  }

  async #take(): Promise<Offer> {
    const link = await this.reach()
    this.#fresh = true
    try {
      const { tools, prompts, resources } = link.capabilities
      const offer: Offer = {
        tools: tools ? await link.tools() : [],
        prompts: prompts ? await link.prompts() : [],
        hasResources: resources !== undefined,
      }
      this.#offer = offer
      return offer
    } catch (error) {
      this.#fresh = false
      this.#check(link)
      throw new Error(`MCP server "${this.name}" does not tell what it offers: ${messageOf(error)}`, { cause: error })
    }
  }

  #toError({ kind, message }: LinkTrouble, { tool, effect }: Called): Error {
    const server = `MCP server "${this.name}"`
    if (kind === 'not_sent') return new RetryableError(`${server}: ${message}`)
    if (kind === 'refused') return new StelloError('TOOL_EXECUTION_ERROR', `${server}: ${message}`)
    const during = tool ? ` during "${tool}"` : ''
    if (effect !== 'non_idempotent') return new Error(`${server} was lost${during}: ${message}`)
    const unknown = `${server} was lost${during}: ${message}. Whether the call took effect is unknown, and it was not sent again`
    return new StelloError(
      'TOOL_OUTCOME_UNKNOWN',
      `${unknown}. Check its effect before you decide to call it once more.`,
    )
  }

  /** The protocol does not say to which call a question belongs, so only a call that is alone can have asked it. */
  async #elicit(asked: ElicitRequestFormParams): Promise<ElicitResult> {
    const [running, ...others] = this.#running
    if (!running || others.length > 0) return { action: 'decline' }
    try {
      const answer = running.ctx.ask(toQuestion(this.name, asked, this.#server.questions)).then(toElicitResult)
      // A question that must wait ends the attempt, and is never answered in it.
      return await Promise.race([answer, cancelledBy(running.ctx.signal)])
    } catch (error) {
      if (isStelloError(error) && error.code === 'TOOL_PERMISSION_DENIED') return { action: 'decline' }
      running.asking = error
      running.stop.abort()
      return { action: 'cancel' }
    }
  }
}

function cancelledBy(signal: AbortSignal): Promise<ElicitResult> {
  return new Promise((resolve) => {
    const cancel = (): void => resolve({ action: 'cancel' })
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
  })
}

async function soon<Result>(wanted: Promise<Result>, otherwise: Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Result>((resolve) => (timer = setTimeout(resolve, SOON_MS, otherwise)))
  try {
    return await Promise.race([wanted, late])
  } finally {
    clearTimeout(timer)
  }
}
