/** The tools of a server, as tools of a session. */
import { createHash } from 'node:crypto'
import type { Tool as ServerTool } from '@modelcontextprotocol/sdk/types.js'
import { preview } from '../../core/message.ts'
import { toTool } from '../../tool/to-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import { toToolResult } from './call-results.ts'
import type { Offer, ServerConnection } from './server-connection.ts'

/** Longest description that a model is given, in UTF-16 units: it is sent with every request. */
const DESCRIPTION_LIMIT = 4096
/** Longest name that providers take. */
const NAME_LIMIT = 64
const HASH_DIGITS = 8

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

/**
 * A name for each tool of a server: `mcp__server__tool`. Two tools never get the same one, and a name depends only on
 * which tools there are, not on their order.
 *
 * @returns by the tool's own name
 * @example namesOf('files', ['read', 'a.b']) // mcp__files__read, mcp__files__a_b
 */
export function namesOf(server: string, tools: readonly string[]): Map<string, string> {
  const own = [...new Set(tools)]
  const plain = own.map((tool) => `mcp__${server}__${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`)
  const names = own.map((tool, index): [string, string] => {
    const name = plain[index] as string
    const untouched = name === `mcp__${server}__${tool}`
    const taken = plain.some((other, at) => other === name && at !== index)
    return [tool, name.length <= NAME_LIMIT && (untouched || !taken) ? name : hashed(name, server, tool)]
  })
  return new Map(names)
}

function hashed(name: string, server: string, tool: string): string {
  const hash = createHash('sha256').update(`${server}\n${tool}`).digest('hex').slice(0, HASH_DIGITS)
  return `${name.slice(0, NAME_LIMIT - HASH_DIGITS - 1)}_${hash}`
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
