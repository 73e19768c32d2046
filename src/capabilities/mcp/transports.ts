/** How a worker reaches a server: a program of its own, or streamable HTTP. Messages are limited on both ways. */
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { keepSecret } from '../../core/secrets.ts'
import { readText, type FromEnv } from '../../core/from-env.ts'
import { limitedBody } from './limited-body.ts'
import type { McpAddress, McpProgram, McpServer } from './server-options.ts'

/** Longest message of a server, in bytes. */
const MESSAGE_BYTES = 10 * 1024 * 1024
/** How much of what a program wrote to stderr is kept, in UTF-16 units. */
const LAST_WORDS = 1000

/** A way to a server on which nothing was sent yet: a program is not started. */
export interface Way {
  transport: Transport
  /** The last text that a program has written to stderr. */
  lastWords(): string
  /** Tells an HTTP server that its session is over. A server that does not listen is left alone. */
  leave(): Promise<void>
}

/** @throws StelloError INVALID_ARGUMENT when a variable that the server needs is not set */
export function wayTo(name: string, server: McpServer): Way {
  const where = `mcp: server "${name}"`
  return server.command === undefined ? toAddress(where, server) : toProgram(where, server)
}

function toProgram(where: string, { command, args = [], env = {}, cwd }: McpProgram): Way {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: readTexts(`${where}.env`, env),
    ...(cwd !== undefined && { cwd }),
    stderr: 'pipe',
    maxBufferSize: MESSAGE_BYTES,
  })
  let words = ''
  // Nobody may let the pipe fill: the program would stop in the middle of a line.
  transport.stderr?.on('data', (text) => (words = `${words}${String(text)}`.slice(-LAST_WORDS)))
  return { transport, lastWords: () => words.trim(), leave: async () => undefined }
}

function toAddress(where: string, { url, headers = {}, token }: McpAddress): Way {
  const own = readTexts(`${where}.headers`, headers)
  const secret =
    token === undefined || typeof token === 'function' ? undefined : readText(token, `${where}.token`, process.env)
  const giveToken = typeof token === 'function' ? token : secret === undefined ? undefined : (): string => secret
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) => {
      const given = new Headers(init?.headers)
      for (const [header, value] of Object.entries(own)) given.set(header, value)
      if (giveToken) {
        const bearer = await giveToken()
        keepSecret(bearer)
        given.set('authorization', `Bearer ${bearer}`)
      }
      return limitedBody(await fetch(input, { ...init, headers: given }), MESSAGE_BYTES, (error) => {
        transport.onerror?.(error)
        void transport.close()
      })
    },
  })
  return {
    // The SDK's own class lacks `undefined` in the type of an optional field.
    transport: transport as Transport,
    lastWords: () => '',
    leave: () => transport.terminateSession().catch(() => undefined),
  }
}

function readTexts(where: string, texts: Record<string, string | FromEnv>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, readText(text, `${where}.${name}`, process.env)]),
  )
}
