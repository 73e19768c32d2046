/**
 * An agent that remembers people in the knowledge graph of an MCP server. Two programs take part in this example: the
 * server from npm, which the worker starts, and `stello mcp`, through which another program asks this agent.
 *
 * Try it: `stello dev examples/mcp/agent.ts`, then `claude mcp add stello -- npx stello mcp --agent secretary`.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createStelloAgent, openai, type ModelLike, type StelloAgent } from '../../src/index.ts'
import { mcp } from '../../src/capabilities/index.ts'

const server: string = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json')),
  'dist/index.js',
)

/** @param file where the server keeps what it knows */
export function secretary(llm: ModelLike, file: string): StelloAgent {
  return createStelloAgent({
    name: 'secretary',
    llm,
    systemPrompt: 'You keep notes about people. Look a person up before you answer, and note what is new.',
    capabilities: {
      packs: [
        mcp({
          servers: {
            memory: {
              command: process.execPath,
              args: [server],
              env: { MEMORY_FILE_PATH: file },
              // Looking something up changes nothing. So it may be repeated, and it needs no permission.
              tools: {
                search_nodes: { effect: 'pure', kind: 'readonly' },
                read_graph: { effect: 'pure', kind: 'readonly' },
              },
            },
          },
        }),
      ],
    },
  })
}

export default secretary(openai({ model: 'gpt-5.4-mini' }), join(process.cwd(), 'people.jsonl'))
