/**
 * Tools of an MCP server: a program that the worker starts, or an address. Here it is the memory server from npm.
 *
 * Try it: `stello dev examples/features/mcp.ts`, then `stello start notes --message "What do you know?" --wait`.
 */
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { mcp } from 'stello-temporal/capabilities'
import { createStelloAgent, type StelloAgent } from 'stello-temporal'
import { modelOr } from './model-or.ts'

const server = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json')),
  'dist/index.js',
)

const agent: StelloAgent = createStelloAgent({
  name: 'notes',
  llm: modelOr(
    ['What do you know', { toolCalls: [{ name: 'mcp__memory__read_graph', arguments: {} }] }],
    [{ tool: 'mcp__memory__read_graph' }, 'I know nothing yet.'],
  ),
  capabilities: {
    packs: [
      mcp({
        servers: {
          memory: {
            command: process.execPath,
            args: [server],
            env: { MEMORY_FILE_PATH: join(tmpdir(), `stello-notes-${process.pid}.jsonl`) },
            // It changes nothing, so it may be repeated.
            tools: { read_graph: { effect: 'pure', kind: 'readonly' } },
          },
        },
      }),
    ],
  },
})

export default agent
