/** GetMcpPrompt: the prompts of servers, which a model loads as it loads a skill. */
import type { Prompt } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { preview } from '../../core/message.ts'
import { createTool } from '../../tool/compat.ts'
import type { Tool } from '../../tool/tool.ts'
import { fromPrompt } from './call-results.ts'
import type { ConnectionPool, Offered } from './connection-pool.ts'
import { touchedServer } from './mcp-rules.ts'

const schema = z.object({
  name: z.string().min(1).describe('server:prompt'),
  arguments: z.record(z.string(), z.string()).optional().describe('Its arguments, by name'),
})

/** Longest line of a prompt, in UTF-16 units: it is sent with every request. */
const LINE_LIMIT = 300

/** @returns undefined when no server has prompts */
export function promptTool(pool: ConnectionPool, offered: readonly Offered[]): Tool | undefined {
  const lines = offered.flatMap(({ connection, offer }) =>
    offer.prompts.map((prompt) => lineOf(connection.name, prompt)),
  )
  if (lines.length === 0) return undefined
  return createTool({
    name: 'GetMcpPrompt',
    kind: 'readonly',
    effect: 'pure',
    description: {
      short: 'Loads a prompt of an MCP server: instructions for a task. Load it before you work on what it covers.',
      long: `Prompts, with their arguments (* must be given):\n${lines.join('\n')}`,
    },
    schema,
    touches: ({ name }) => touchedServer(/^[^:]+(?=:)/.exec(name)?.[0]),
    async execute({ name, arguments: args = {} }, ctx) {
      const found = offered.find(({ connection, offer }) =>
        offer.prompts.some((prompt) => name === `${connection.name}:${prompt.name}`),
      )
      if (!found) return { success: false, error: `There is no prompt "${name}". Prompts:\n${lines.join('\n')}` }
      const connection = await pool.connection(found.connection.name, ctx)
      const own = name.slice(connection.name.length + 1)
      return fromPrompt(await connection.read((link) => link.getPrompt(own, args, ctx.signal)))
    },
  })
}

function lineOf(server: string, { name, description, title, arguments: args = [] }: Prompt): string {
  const names = args.map((each) => `${each.name}${each.required ? '*' : ''}`).join(', ')
  return preview(`- ${server}:${name}(${names}): ${description ?? title ?? ''}`, LINE_LIMIT)
}
