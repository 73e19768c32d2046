/** The connections of a worker: one for each server, or one for each server and session. */
import type { PackContext } from '../../agent/capability-pack.ts'
import type { SessionContext } from '../../tool/tool.ts'
import { ruledServer } from './mcp-rules.ts'
import { ServerConnection, type Offer } from './server-connection.ts'
import { checkServer, type McpServer, type McpServerOf } from './server-options.ts'

const OPEN_MS = 30_000
/** How long a connection of a session is kept without a call. */
const IDLE_MS = 10 * 60_000

/** A server with what it offers now. */
export interface Offered {
  connection: ServerConnection
  offer: Offer
}

export class ConnectionPool {
  readonly #servers: ReadonlyMap<string, McpServerOf>
  readonly #connections = new Map<string, Promise<ServerConnection>>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** Workers of one process may share an agent. */
  #opened = 0

  constructor(servers: ReadonlyMap<string, McpServerOf>) {
    this.#servers = servers
  }

  /**
   * Starts what all sessions share. A server behind an address may be away: sessions wait for it.
   *
   * @throws StelloError INVALID_ARGUMENT when a secret is not set; Error when a program that must be there does not start
   */
  async open(): Promise<void> {
    this.#opened++
    try {
      const shared = [...this.#servers].flatMap(([name, server]) => (isShared(server) ? [{ name, server }] : []))
      const { wayTo } = await import('./transports.ts')
      for (const { name, server } of shared) wayTo(name, server)
      await Promise.all(
        shared.map(async ({ name, server }) => {
          const connection = await this.#shared(name, server)
          const begun = within(OPEN_MS, connection.offer())
          if (server.command === undefined || server.optional) await begun.catch(() => undefined)
          else await begun
        }),
      )
    } catch (error) {
      await this.close()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#opened = Math.max(0, this.#opened - 1)
    if (this.#opened > 0) return
    for (const timer of this.#timers.values()) clearTimeout(timer)
    const connections = [...this.#connections.values()]
    this.#timers.clear()
    this.#connections.clear()
    await Promise.all(connections.map((each) => each.then((connection) => connection.close()).catch(() => undefined)))
  }

  /**
   * What the servers of a session offer. One that a rule denies is not asked.
   *
   * @throws Error when one that must be there could never be reached
   */
  async offered(session: PackContext): Promise<Offered[]> {
    const names = [...this.#servers.keys()].filter((name) => ruledServer(session, name) !== 'deny')
    const all = await Promise.all(
      names.map(async (name) => {
        const connection = await this.connection(name, session)
        const asked = connection.offer().then((offer) => [{ connection, offer }])
        return connection.server.optional ? asked.catch(() => []) : asked
      }),
    )
    return all.flat()
  }

  /** @param name of a server that there is */
  connection(name: string, session: SessionContext): Promise<ServerConnection> {
    const server = this.#servers.get(name) as McpServerOf
    if (isShared(server)) return this.#shared(name, server)
    const key = `${name}\n${session.sessionId}`
    this.#keep(key)
    if (typeof server !== 'function') return this.#connection(name, server, { key, mayAsk: true })
    return this.#connection(name, async () => checkServer(name, await server(session)), { key, mayAsk: true })
  }

  /** Its questions would belong to no session. */
  #shared(name: string, server: McpServer): Promise<ServerConnection> {
    return this.#connection(name, server, { key: name, mayAsk: false })
  }

  #connection(
    name: string,
    server: McpServer | (() => Promise<McpServer>),
    { key, mayAsk }: { key: string; mayAsk: boolean },
  ): Promise<ServerConnection> {
    const known = this.#connections.get(key)
    if (known) return known
    const made = (async () =>
      new ServerConnection(name, typeof server === 'function' ? await server() : server, mayAsk))()
    this.#connections.set(key, made)
    made.catch(() => this.#connections.delete(key))
    return made
  }

  /** Closes it when nothing has asked for it any more. */
  #keep(key: string): void {
    const timer = this.#timers.get(key) ?? setTimeout(() => void this.#end(key), IDLE_MS).unref()
    this.#timers.set(key, timer.refresh())
  }

  async #end(key: string): Promise<void> {
    const connection = await this.#connections.get(key)?.catch(() => undefined)
    if (connection?.busy) return this.#keep(key)
    this.#timers.delete(key)
    this.#connections.delete(key)
    await connection?.close()
  }
}

function isShared(server: McpServerOf): server is McpServer {
  return typeof server !== 'function' && server.per !== 'session'
}

async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not answer within ${timeoutMs / 1000} s`)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
