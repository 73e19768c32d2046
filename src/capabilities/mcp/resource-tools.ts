/** ListMcpResources and ReadMcpResource: list the resources of servers, and read one by its address. */
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { PackContext } from '../../agent/capability-pack.ts'
import type { Tool } from '../../tool/tool.ts'
import { fromResource } from './call-results.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { ruledServer, touchedServer } from './mcp-rules.ts'
import type { ServerConnection } from './server-connection.ts'

const server = z.string().optional().describe('Only this server')

export function resourceTools(pool: ConnectionPool): readonly Tool[] {
  return [listResources(pool), readResource(pool)]
}

function listResources(pool: ConnectionPool): Tool {
  return createTool({
    name: 'ListMcpResources',
    kind: 'readonly',
    effect: 'pure',
    description: {
      short: 'Lists what MCP servers have to read.',
      long: 'A line for each resource: server, address, name. An address with {…} is a pattern: fill it in.',
    },
    aliases: { serverName: 'server' },
    schema: z.object({ server }),
    touches: (args) => touchedServer(args.server),
    execute: (args, ctx) =>
      answering(async () => {
        const { found, left } = await among(pool, ctx, args.server)
        const lines = (await Promise.all(found.map(linesOf))).flat()
        const all = [...(lines.length > 0 ? lines : ['There are no resources.']), ...left.map(toName)]
        return all.join('\n')
      }),
  })
}

function readResource(pool: ConnectionPool): Tool {
  return createTool({
    name: 'ReadMcpResource',
    kind: 'readonly',
    effect: 'pure',
    description: { short: 'Reads a resource of an MCP server by its address.' },
    aliases: { serverName: 'server' },
    schema: z.object({ server, uri: z.string().min(1).describe('As ListMcpResources shows it') }),
    touches: (args) => touchedServer(args.server),
    execute: ({ server: name, uri }, ctx) =>
      answering(async () => {
        const { found, left } = await among(pool, ctx, name)
        if (found.length === 0) throw new Refused(left.map(toName).join('\n'))
        const connection = await holding(found, uri)
        return fromResource(await connection.read((link) => link.readResource(uri, ctx.signal)))
      }),
  })
}

/** An error that the model can avoid by another call. */
class Refused extends Error {}

async function answering<Result>(work: () => Promise<Result>): Promise<Result | { success: false; error: string }> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refused) return { success: false, error: error.message }
    throw error
  }
}

/** The servers with resources that a call is about. `left`: those that it must name, because a rule asks about them. */
async function among(
  pool: ConnectionPool,
  session: PackContext,
  name?: string,
): Promise<{ found: ServerConnection[]; left: ServerConnection[] }> {
  const offered = await pool.offered(session)
  const all = offered.filter(({ offer }) => offer.hasResources).map(({ connection }) => connection)
  const left = name === undefined ? all.filter((each) => ruledServer(session, each.name) !== undefined) : []
  const found = all.filter((each) => (name === undefined ? !left.includes(each) : each.name === name))
  if (found.length + left.length > 0) return { found, left }
  const names = all.map((connection) => connection.name).join(', ')
  throw new Refused(`There is no MCP server "${name}" with resources. There are: ${names}`)
}

/** An address belongs to the only server there is, or to the only one that lists it. */
async function holding(connections: ServerConnection[], uri: string): Promise<ServerConnection> {
  const [first, ...others] = connections
  if (first && others.length === 0) return first
  const lists = await Promise.all(connections.map((each) => each.read((link) => link.resources())))
  const found = connections.filter((_, index) => lists[index]?.some((resource) => resource.uri === uri))
  if (found[0] && found.length === 1) return found[0]
  const names = (found.length > 0 ? found : connections).map(({ name }) => name).join(', ')
  throw new Refused(`${found.length > 0 ? 'Several servers have' : 'No server lists'} ${uri}: name one of ${names}`)
}

async function linesOf(connection: ServerConnection): Promise<string[]> {
  const resources = await connection.read((link) => link.resources())
  // Not every server knows patterns.
  const templates = await connection.read((link) => link.templates()).catch(() => [])
  return [
    ...resources.map(({ uri, ...about }) => line(connection, uri, about)),
    ...templates.map(({ uriTemplate, ...about }) => line(connection, uriTemplate, about)),
  ]
}

function toName({ name }: ServerConnection): string {
  return `${name}: a rule asks a person first. Call again with server: ${name}`
}

interface About {
  name: string
  title?: string | undefined
  description?: string | undefined
  mimeType?: string | undefined
}

function line({ name: of }: ServerConnection, uri: string, { name, title, description, mimeType }: About): string {
  const said = [title ?? name, description].filter(Boolean).join(' – ')
  return `${of}  ${uri}  ${said}${mimeType === undefined ? '' : ` (${mimeType})`}`
}
