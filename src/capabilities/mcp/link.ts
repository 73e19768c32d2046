/**
 * One live connection to a server. Only this file and its neighbours `transports.ts` and `link-trouble.ts` load the SDK,
 * and they are loaded with the first connection.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  GetPromptResultSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  PaginatedResultSchema,
  PromptListChangedNotificationSchema,
  ReadResourceResultSchema,
  ToolListChangedNotificationSchema,
  ToolSchema,
  type CallToolResult,
  type ElicitRequestFormParams,
  type ElicitResult,
  type GetPromptResult,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type ServerCapabilities,
  type Tool as ServerTool,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { messageOf } from '../../core/errors.ts'
import { LinkTrouble, toTrouble } from './link-trouble.ts'
import type { McpServer } from './server-options.ts'
import { wayTo } from './transports.ts'

/** What a connection tells of itself. */
export interface LinkEvents {
  /** A list of the server has changed. */
  changed(): void
  /** It has ended, and nobody has closed it. */
  ended(why: string): void
  /** Something went wrong on the way, and the connection goes on. */
  troubled(): void
  /** The server asks a person something. Unset: it may not. */
  elicit?(asked: ElicitRequestFormParams): Promise<ElicitResult>
}

export interface CallOptions {
  signal: AbortSignal
  /** The same in every repetition of the call. */
  idempotencyKey: string
  onProgress(progress: { progress: number; total?: number | undefined; message?: string | undefined }): void
}

const CONNECT_MS = 30_000
const LIST_MS = 20_000
const PING_MS = 3000
/** Longest time that a timer takes: the tool's own time-out ends a call. */
const NO_TIMEOUT_MS = 2 ** 31 - 1
/** A server that always has another page would be asked for ever. */
const MOST_ENTRIES = 1000
const MOST_PAGES = 100
const KEY = 'stello-temporal/idempotency-key'

const ListToolsSchema = PaginatedResultSchema.extend({ tools: z.array(z.unknown()) })

export class Link {
  readonly #client: Client
  readonly #leave: () => Promise<void>
  #ended: string | undefined
  /** The first error since the server was last known to work. */
  #trouble = ''
  /** It has begun, and nobody has closed it. */
  #live = false

  private constructor(client: Client, leave: () => Promise<void>) {
    this.#client = client
    this.#leave = leave
  }

  /** @throws StelloError INVALID_ARGUMENT when a secret is missing; Error when the server does not begin to speak */
  static async open(name: string, server: McpServer, on: LinkEvents): Promise<Link> {
    const { transport, lastWords, leave } = wayTo(name, server)
    const client = new Client(
      { name: 'stello-temporal', version: '0.1.0' },
      { capabilities: on.elicit ? { elicitation: {} } : {} },
    )
    const link = new Link(client, leave)
    client.onerror = (error) => {
      link.#trouble ||= messageOf(error)
      on.troubled()
    }
    client.onclose = () => {
      link.#ended = ['the connection has ended', link.#trouble, lastWords()].filter(Boolean).join(': ')
      if (link.#live) on.ended(link.#ended)
    }
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => on.changed())
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => on.changed())
    if (on.elicit) {
      const { elicit } = on
      client.setRequestHandler(ElicitRequestSchema, ({ params }) =>
        'requestedSchema' in params ? elicit(params) : { action: 'decline' },
      )
    }
    try {
      await client.connect(transport, { timeout: CONNECT_MS })
      if (link.#ended !== undefined) throw new Error(link.#ended)
    } catch (error) {
      await client.close().catch(() => undefined)
      throw new Error([messageOf(error), lastWords()].filter(Boolean).join(': '), { cause: error })
    }
    link.#live = true
    return link
  }

  get capabilities(): ServerCapabilities {
    return this.#client.getServerCapabilities() ?? {}
  }

  /** An entry that is no tool is left out; the others are used. */
  async tools(): Promise<ServerTool[]> {
    const entries = await this.#all('tools/list', ListToolsSchema, ({ tools }) => tools)
    return entries.flatMap((entry) => ToolSchema.safeParse(entry).data ?? [])
  }

  prompts(): Promise<Prompt[]> {
    return this.#all('prompts/list', ListPromptsResultSchema, ({ prompts }) => prompts)
  }

  resources(): Promise<Resource[]> {
    return this.#all('resources/list', ListResourcesResultSchema, ({ resources }) => resources)
  }

  templates(): Promise<ResourceTemplate[]> {
    return this.#all('resources/templates/list', ListResourceTemplatesResultSchema, (page) => page.resourceTemplates)
  }

  /** @throws LinkTrouble */
  callTool(name: string, args: Record<string, unknown>, options: CallOptions): Promise<CallToolResult> {
    const { signal, idempotencyKey, onProgress } = options
    const request = {
      method: 'tools/call',
      params: { name, arguments: args, _meta: { [KEY]: idempotencyKey } },
    } as const
    const bounds = { signal, timeout: NO_TIMEOUT_MS, onprogress: onProgress }
    return this.#asked(() => this.#client.request(request, CallToolResultSchema, bounds))
  }

  /** @throws LinkTrouble */
  getPrompt(name: string, args: Record<string, string>, signal: AbortSignal): Promise<GetPromptResult> {
    const request = { method: 'prompts/get', params: { name, arguments: args } } as const
    return this.#asked(() => this.#client.request(request, GetPromptResultSchema, { signal }))
  }

  /** @throws LinkTrouble */
  readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    const request = { method: 'resources/read', params: { uri } } as const
    return this.#asked(() => this.#client.request(request, ReadResourceResultSchema, { signal }))
  }

  /** Ends the connection if the server does not answer soon. */
  async endIfSilent(): Promise<void> {
    try {
      await this.#client.ping({ timeout: PING_MS })
      this.#trouble = ''
    } catch {
      await this.#client.close()
    }
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return
    this.#live = false
    await this.#leave()
    await this.#client.close()
  }

  async #all<Page extends { nextCursor?: string | undefined }, Entry>(
    method: 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list',
    schema: z.ZodType<Page>,
    entriesOf: (page: Page) => Entry[],
  ): Promise<Entry[]> {
    const found: Entry[] = []
    let cursor: string | undefined
    for (let pages = 1; ; pages++) {
      const request = { method, params: cursor === undefined ? {} : { cursor } }
      const page: Page = await this.#asked(() => this.#client.request(request, schema, { timeout: LIST_MS }))
      found.push(...entriesOf(page))
      cursor = page.nextCursor
      if (cursor === undefined) return found
      if (found.length >= MOST_ENTRIES || pages >= MOST_PAGES)
        throw new LinkTrouble(
          'refused',
          `${method} has more than ${MOST_ENTRIES} entries or ${MOST_PAGES} pages`,
          false,
        )
    }
  }

  async #asked<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask()
    } catch (error) {
      const trouble = toTrouble(error, this.#ended)
      if (trouble.broken && this.#ended === undefined) await this.#client.close()
      throw trouble
    }
  }
}
