/** Real HTTP servers for tests of web tools, and the tools of a pack, called as a session calls them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { normalizeResult, type NormalizedResult } from '../../../src/tool/result.ts'
import type { Tool, ToolContext } from '../../../src/index.ts'
import { testContext } from './test-context.ts'

export interface Site {
  /** `127.0.0.1:port` */
  host: string
  port: number
  /** Path and headers of each request. */
  asked: { path: string; headers: IncomingMessage['headers'] }[]
}

type Answering = (request: IncomingMessage, response: ServerResponse) => void

/** @param answer to each request; a text is answered as a page */
export async function useSite(answer: string | Answering): Promise<Site> {
  const asked: Site['asked'] = []
  const server = createServer((request, response) => {
    asked.push({ path: request.url ?? '', headers: request.headers })
    if (typeof answer === 'string') response.setHeader('content-type', 'text/html; charset=utf-8').end(answer)
    else answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, port, asked }
}

/** Calls a tool as a session does. */
export async function call(
  tools: readonly Tool[],
  name: string,
  args: Record<string, unknown>,
  given: Partial<ToolContext> = {},
): Promise<NormalizedResult> {
  const tool = tools.find((each) => each.name === name) as Tool
  const checked = tool.check(args)
  if (!checked.ok) return { content: checked.problem, isError: true }
  return normalizeResult(await tool.execute(checked.value, testContext(given)))
}
