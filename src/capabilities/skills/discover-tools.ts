/** DiscoverTools: finds tools. From then on the model is also shown the found tools that were hidden. */
import { z } from 'zod'
import { DISCOVERED, DISCOVER_TOOLS, namesDiscovered } from '../../agent/hidden-tools.ts'
import type { ToolSpec } from '../../core/model.ts'
import { createTool } from '../../tool/compat.ts'
import type { Tool } from '../../tool/tool.ts'
import { findTools } from './find-tools.ts'

const RESULTS = 5
const MOST_RESULTS = 10

export function discoverToolsTool(): Tool {
  return createTool({
    name: DISCOVER_TOOLS,
    kind: 'readonly',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Finds tools that you are not shown yet. You can call what it finds from your next answer on.',
      usageNotes: ['query: words for what the tool should do, or select:NameA,NameB for tools whose names you know'],
    },
    schema: z.object({
      query: z.string().min(1).max(500),
      max_results: z.number().int().min(1).max(MOST_RESULTS).optional().describe(`Default ${RESULTS}`),
    }),
    async execute({ query, max_results: limit = RESULTS }, { values, listTools }) {
      const tools = (await listTools()).filter(({ name }) => name !== DISCOVER_TOOLS)
      const found = findTools(tools, query, limit)
      const names = found.tools.map(({ name }) => name)
      if (names.length === 0) return noneOf(tools)
      values.set(DISCOVERED, [...new Set([...namesDiscovered(await values.get(DISCOVERED)), ...names])])
      const missing = found.missing.length > 0 ? [`There is no tool ${found.missing.join(', ')}.`] : []
      return [...missing, 'You can call these tools from your next answer on:', ...found.tools.map(shown)].join('\n\n')
    },
  })
}

function shown({ name, description, parameters }: ToolSpec): string {
  return JSON.stringify({ name, description, parameters })
}

function noneOf(tools: readonly ToolSpec[]): { success: false; error: string } {
  return { success: false, error: `No tool fits. There are: ${tools.map(({ name }) => name).join(', ')}.` }
}
