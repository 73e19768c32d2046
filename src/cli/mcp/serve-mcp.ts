/** The server of `stello mcp`. Its tools are named as the commands, because clients put the name of the server before them. */
import { once } from 'node:events'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { StelloClient } from '../../client/index.ts'
import { addDecidingTools } from './deciding-tools.ts'
import { addReadingTools } from './reading-tools.ts'
import { addStartingTools } from './starting-tools.ts'

const INSTRUCTIONS = `Durable jobs: each is a session of an agent, which goes on whatever happens to you or to this server.
start a session (or send to one that is there), then wait for the answer; wait again as often as it says "running".
When it says "held", a person must decide: show them what waits, and pass on what they say with answer, or wait.`

export interface Serving {
  /** The agent whose sessions `start` begins. Unset: the client names it. */
  agent?: string
  /** Ends the serving; so does the end of stdin. */
  until: AbortSignal
}

export async function serveMcp(stello: StelloClient, { agent, until }: Serving): Promise<void> {
  const server = new McpServer({ name: 'stello', version: '1' }, { instructions: INSTRUCTIONS })
  addStartingTools(server, stello, agent)
  addReadingTools(server, stello)
  addDecidingTools(server, stello)
  const closed = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), aborted(until)])
  await server.connect(new StdioServerTransport())
  await closed
  await server.close()
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
