/** Tools of `stello mcp` that begin a job and send it more messages. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import type { StelloClient } from '../../client/index.ts'
import { isStelloError } from '../../core/errors.ts'
import { READS, answering, sessionId } from './mcp-answers.ts'

/** @param agent the agent of new sessions; unset: the client names it */
export function addStartingTools(server: McpServer, stello: StelloClient, agent: string | undefined): void {
  if (agent === undefined) {
    server.registerTool(
      'agents',
      { description: 'Names of the agents that workers serve now.', annotations: READS },
      () => answering(async () => ({ agents: await stello.servedAgents() })),
    )
  }

  server.registerTool(
    'start',
    {
      description: `Begins a session${agent === undefined ? ' of an agent' : ` of the agent "${agent}"`} with a first message. It goes on by itself.`,
      inputSchema: {
        ...(agent === undefined && { agent: z.string().min(1).describe('One that `agents` names') }),
        message: z.string().min(1).describe('The job, complete'),
        label: z.string().optional().describe('A short name for people'),
        sessionId: z.string().optional().describe('An id of your own, so that a repeated start begins nothing twice'),
      },
    },
    (given) =>
      answering(async () => {
        const { message, label, sessionId: own } = given
        const name = agent ?? (given as { agent: string }).agent
        const session = await stello
          .createSession({
            agent: name,
            ...(label !== undefined && { label }),
            ...(own !== undefined && { sessionId: own }),
          })
          .catch((error: unknown) => {
            if (own !== undefined && isTaken(error)) return stello.session(own)
            throw error
          })
        const { messageId } = await session.send(message, own === undefined ? {} : { messageId: `${own}-first` })
        const served = (await stello.servedAgents()).includes(name)
        return {
          sessionId: session.id,
          messageId,
          ...(!served && { note: `no worker serves "${name}" now: it waits` }),
        }
      }),
  )

  server.registerTool(
    'send',
    {
      description: 'Sends another message to a session. It is taken when the turn under way has ended.',
      inputSchema: {
        sessionId,
        message: z.string().min(1),
        messageId: z.string().optional().describe('An id of your own, so that a repeated send is taken once'),
      },
    },
    ({ sessionId: id, message, messageId }) =>
      answering(async () => {
        const turn = await stello.session(id).send(message, messageId === undefined ? {} : { messageId })
        return { sessionId: id, messageId: turn.messageId }
      }),
  )
}

function isTaken(error: unknown): boolean {
  return isStelloError(error) && error.code === 'SESSION_EXISTS'
}
