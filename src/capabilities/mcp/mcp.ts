/** The pack of tools that MCP servers offer. They are asked at each model call, so their lists may change. */
import type { CapabilityPack, PackTools } from '../../agent/capability-pack.ts'
import { ConnectionPool } from './connection-pool.ts'
import { promptTool } from './prompt-tool.ts'
import { resourceTools } from './resource-tools.ts'
import { checkServers, type McpServerOf } from './server-options.ts'
import { serverTools } from './server-tools.ts'

/** Options of `mcp`. */
export interface McpOptions {
  /** By name: letters, digits, `-` and single `_`, which stand in the names of the tools. */
  servers: Record<string, McpServerOf>
}

/**
 * The tools of MCP servers, as `mcp__server__tool`. With them come ListMcpResources and ReadMcpResource, if a server has
 * resources, and GetMcpPrompt, if one has prompts. An agent has one such pack. A worker starts the programs and ends them.
 *
 * @throws StelloError INVALID_ARGUMENT naming the server and the field
 * @example
 * mcp({
 *   servers: {
 *     memory: { command: 'mcp-server-memory', env: { MEMORY_FILE_PATH: '/srv/memory.jsonl' } },
 *     tickets: { url: 'https://tickets.example/mcp', token: fromEnv('TICKETS_TOKEN') },
 *     files: ({ sessionId }) => ({ command: 'mcp-server-filesystem', args: [`/srv/sessions/${sessionId}`] }),
 *   },
 * })
 */
export function mcp({ servers }: McpOptions): CapabilityPack & { tools: PackTools } {
  const pool = new ConnectionPool(checkServers(servers))
  const toRead = resourceTools(pool)
  return {
    name: 'mcp',
    open: () => pool.open(),
    close: () => pool.close(),
    async tools(session) {
      const offered = await pool.offered(session)
      return [
        ...offered.flatMap(({ connection, offer }) => serverTools(connection, offer)),
        ...(offered.some(({ offer }) => offer.hasResources) ? toRead : []),
        ...[promptTool(pool, offered)].filter((tool) => tool !== undefined),
      ]
    },
  }
}
