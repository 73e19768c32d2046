/** A server over streamable HTTP that can be told to refuse, to forget its sessions, and to break off in the middle. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { onTestFinished } from 'vitest'

export interface HttpServer {
  url: string
  /** What was said in the header `authorization`, in order. */
  tokens: (string | undefined)[]
  headers: IncomingMessage['headers'][]
  /** Names of the tools that were run. */
  ran: string[]
  /** The answer to the next requests, in place of the usual one. */
  refuse?: (request: IncomingMessage) => number | undefined
  /** Forgets all sessions, like a server that was started again. */
  forget(): void
  close(): Promise<void>
}

export async function startHttpServer(json = false): Promise<HttpServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    const mcp = new McpServer({ name: 'http', version: '1' })
    const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
    mcp.registerTool('ping', {}, () => {
      server.ran.push('ping')
      return text('pong')
    })
    mcp.registerTool('long', {}, () => text('x'.repeat(11 * 1024 * 1024)))
    mcp.registerTool('break', {}, () => {
      server.ran.push('break')
      http.closeAllConnections()
      sessions.clear()
      return new Promise<never>(() => undefined)
    })
    await mcp.connect(transport as Parameters<McpServer['connect']>[0])
    return transport
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    server.tokens.push(request.headers.authorization)
    server.headers.push(request.headers)
    const status = server.refuse?.(request)
    if (status !== undefined) return void response.writeHead(status).end('refused')
    const id = request.headers['mcp-session-id']
    const transport = id === undefined ? await open() : sessions.get(String(id))
    if (!transport) return void response.writeHead(404).end('no such session')
    await transport.handleRequest(request, response)
  }
  const http = createServer((request, response) => void answer(request, response))
  await once(http.listen(0, '127.0.0.1'), 'listening')
  const server: HttpServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    tokens: [],
    headers: [],
    ran: [],
    forget: () => sessions.clear(),
    async close() {
      http.closeAllConnections()
      if (http.listening) await once(http.close(), 'close')
    },
  }
  onTestFinished(() => server.close())
  return server
}
