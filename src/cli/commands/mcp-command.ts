/** `stello mcp`: sessions as tools of an MCP server on stdin and stdout. Stdout belongs to the protocol. */
import type { Command } from 'commander'
import type { OnSession } from './command-context.ts'
import { untilInterrupted } from '../interrupted.ts'

export function addMcpCommand(program: Command, on: OnSession): void {
  program
    .command('mcp')
    .description('serve sessions as tools to an MCP client, such as Claude Code, on stdin and stdout')
    .option('--agent <name>', 'the agent that `start` begins sessions of; without it, each start names one')
    .action(
      on(async ({ stello }, { agent }: { agent?: string }) => {
        const { serveMcp } = await import('../mcp/serve-mcp.ts')
        await serveMcp(stello, { ...(agent !== undefined && { agent }), until: untilInterrupted() })
      }),
    )
}
