/** The tools of a server, as tools of a session. */
import type { Tool as ServerTool } from '@modelcontextprotocol/sdk/types.js'
import { preview } from '../../core/message.ts'
import { toTool } from '../../tool/to-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import { toToolResult } from './call-results.ts'
import { namesOf } from './mcp-names.ts'
import type { Offer, ServerConnection } from './server-connection.ts'

/** Longest description that a model is given, in UTF-16 units: it is sent with every request. */
const DESCRIPTION_LIMIT = 4096

const made = new WeakMap<Offer, readonly Tool[]>()

/** The same objects as long as the server offers the same. */
export function serverTools(connection: ServerConnection, offer: Offer): readonly Tool[] {
  const known = made.get(offer)
  if (known) return known
  const names = namesOf(
    connection.name,
    offer.tools.map(({ name }) => name),
  )
  const once = new Map(offer.tools.map((tool) => [tool.name, tool]))
  const tools = [...once.values()]
    // It is only for clients that fetch the result later.
    .filter(({ execution }) => execution?.taskSupport !== 'required')
    .map((tool) => serverTool(connection, tool, names.get(tool.name) as string))
  made.set(offer, tools)
  return tools
}

function serverTool(connection: ServerConnection, tool: ServerTool, name: string): Tool {
  const { timeout, tools = {} } = connection.server
  // A server's statements about its tools are hints: they decide neither repetitions nor permissions.
  const settings = {
    effect: 'non_idempotent',
    kind: 'execute',
    ...(timeout !== undefined && { timeout }),
    ...tools[tool.name],
  } as const
  const title = tool.title ?? tool.annotations?.title
  const said = {
    ...settings,
    name,
    description: preview(
      tool.description || title || `"${tool.name}" of the MCP server "${connection.name}"`,
      DESCRIPTION_LIMIT,
    ),
    ...(title !== undefined && { displayName: title }),
    ordered: settings.kind !== 'readonly',
    execute: async (args: Record<string, unknown>, ctx: Parameters<Tool['execute']>[1]) =>
      toToolResult(await connection.call({ tool: tool.name, effect: settings.effect }, args, ctx)),
  }
  try {
    return toTool({ ...said, parameters: tool.inputSchema })
  } catch {
    // A schema that models cannot be shown. The server checks the arguments itself, and says what is wrong.
    return toTool({ ...said, parameters: { type: 'object' } })
  }
}
