/** Tools of `stello mcp` that read: the answer to a message, the tree, the transcript, what waits for a person. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import type { StelloClient } from '../../client/index.ts'
import { preview } from '../../core/message.ts'
import { treeLines } from '../output/format.ts'
import { plainLines } from '../output/plain-lines.ts'
import { LONGEST_WAIT_S, USUAL_WAIT_S, waitForTurn } from './wait-for-turn.ts'
import { READS, answering, sessionId } from './mcp-answers.ts'

/** Longest text of one message in a transcript, in UTF-16 units. */
const MESSAGE_SHOWN = 4000
const SHOWN = 20

export function addReadingTools(server: McpServer, stello: StelloClient): void {
  server.registerTool(
    'wait',
    {
      description:
        'Waits for the answer to a message. "answered": with its text. "running": wait again. "held": a person must decide about what is listed first.',
      inputSchema: {
        sessionId,
        messageId: z.string().min(1).describe('As start or send returned it'),
        seconds: z.number().int().min(0).max(LONGEST_WAIT_S).optional().describe(`Default ${USUAL_WAIT_S}`),
      },
      annotations: READS,
    },
    (given, extra) => answering(() => waitForTurn(stello, given, extra)),
  )

  server.registerTool(
    'tree',
    {
      description: 'The session and those that it has begun, with what each does now and what it waits for.',
      inputSchema: { sessionId },
      annotations: READS,
    },
    ({ sessionId: id }) =>
      answering(async () => plainLines(await stello.session(id).tree(), (tree) => treeLines(tree))),
  )

  server.registerTool(
    'transcript',
    {
      description: 'The last messages of a session, as its model reads them.',
      inputSchema: { sessionId, last: z.number().int().min(1).max(1000).optional().describe(`Default ${SHOWN}`) },
      annotations: READS,
    },
    ({ sessionId: id, last = SHOWN }) =>
      answering(async () => {
        const messages = await stello.session(id).transcript()
        return {
          earlier: Math.max(0, messages.length - last),
          messages: messages.slice(-last).map(({ role, content, name, toolCalls, isError }) => ({
            role,
            ...(name !== undefined && { name }),
            content: preview(content, MESSAGE_SHOWN),
            ...(toolCalls && {
              calls: toolCalls.map((call) => `${call.name} ${preview(call.arguments, MESSAGE_SHOWN)}`),
            }),
            ...(isError && { isError }),
          })),
        }
      }),
  )

  server.registerTool(
    'inbox',
    {
      description: 'What waits for a person: in a session and those below it, or everywhere.',
      inputSchema: { sessionId: sessionId.optional() },
      annotations: READS,
    },
    ({ sessionId: id }) => answering(async () => ({ items: await stello.inbox(id) })),
  )
}
