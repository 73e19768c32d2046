/** The tools of `stello mcp`. They are named as the commands, because clients put the name of the server before them. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { AnswerOptions, SessionHandle, StelloClient } from '../client/index.ts'
import { isStelloError } from '../core/errors.ts'
import { preview } from '../core/message.ts'
import { DECISIONS, PENDING_KINDS, decisionsOf } from '../protocol/pending.ts'
import { plainLines } from './plain-lines.ts'
import { treeLines } from './format.ts'
import { explain } from './output.ts'
import { LONGEST_WAIT_S, USUAL_WAIT_S, waitForTurn } from './wait-for-turn.ts'

const INSTRUCTIONS = `Durable jobs: each is a session of an agent, which goes on whatever happens to you or to this server.
start a session (or send to one that is there), then wait for the answer; wait again as often as it says "running".
When it says "held", a person must decide: show them what waits, and pass on what they say with answer, or wait.`

/** Longest text of one message in a transcript, in UTF-16 units. */
const MESSAGE_SHOWN = 4000
const SHOWN = 20
const TAKEN_WITHIN_MS = 5000
const LOOK_EVERY_MS = 100

const sessionId = z.string().min(1).describe('As start returned it')
const asked = PENDING_KINDS.map((kind) => `${kind}: ${decisionsOf(kind).join(' or ')}`).join('; ')
const READS = { readOnlyHint: true, openWorldHint: false } as const

export interface Serving {
  /** What `start` begins sessions of. Unset: the client names it. */
  agent?: string
  /** Ends the serving; so does the end of stdin. */
  until: AbortSignal
}

export async function serveMcp(stello: StelloClient, { agent, until }: Serving): Promise<void> {
  const server = createServer(stello, agent)
  const closed = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), aborted(until)])
  await server.connect(new StdioServerTransport())
  await closed
  await server.close()
}

function createServer(stello: StelloClient, agent: string | undefined): McpServer {
  const server = new McpServer({ name: 'stello', version: '1' }, { instructions: INSTRUCTIONS })

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

  server.registerTool(
    'answer',
    {
      description: `Passes on what a person has decided about an item of the inbox. Decisions: ${asked}.`,
      inputSchema: {
        sessionId: sessionId.describe('That of the item'),
        id: z.string().min(1).describe('That of the item'),
        decision: z.enum(DECISIONS as [AnswerOptions['decision'], ...AnswerOptions['decision'][]]),
        text: z.string().optional().describe('What the person added: a result, a reason, an answer'),
        values: z.record(z.string(), z.unknown()).optional().describe('What fills the form of the item, if it has one'),
      },
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    ({ sessionId: session, id, ...said }) =>
      answering(async () => {
        const given = Object.entries(said).filter(([, value]) => value !== undefined)
        const handle = stello.session(session)
        await handle.answer(id, Object.fromEntries(given) as unknown as AnswerOptions)
        // A wait that begins now must not be held up by what has just been answered.
        return { sessionId: session, id, decision: said.decision, taken: await isGone(handle, id) }
      }),
  )

  server.registerTool(
    'resume',
    {
      description: 'Lets a paused session go on, with the step that was due. First mend what the pause names.',
      inputSchema: { sessionId },
      annotations: { openWorldHint: false },
    },
    ({ sessionId: id }) =>
      answering(async () => {
        await stello.session(id).resume()
        return { sessionId: id }
      }),
  )

  server.registerTool(
    'cancel',
    {
      description: 'Stops the turn under way, in a session and those below it. They stay open.',
      inputSchema: { sessionId },
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    ({ sessionId: id }) =>
      answering(async () => {
        await stello.session(id).cancelTurn({ tree: true })
        return { sessionId: id }
      }),
  )

  return server
}

/** Objects as JSON; failures as what the command would print. */
async function answering(work: () => Promise<string | Record<string, unknown>>): Promise<CallToolResult> {
  try {
    const value = await work()
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return { content: [{ type: 'text', text }] }
  } catch (error) {
    return { content: [{ type: 'text', text: explain(error) }], isError: true }
  }
}

/** Whether an item no longer waits. Without a worker it waits on, with its answer. */
async function isGone(session: SessionHandle, item: string): Promise<boolean> {
  for (const begun = performance.now(); performance.now() - begun < TAKEN_WITHIN_MS; await pause(LOOK_EVERY_MS)) {
    if (!(await session.pending()).some(({ id }) => id === item)) return true
  }
  return false
}

function isTaken(error: unknown): boolean {
  return isStelloError(error) && error.code === 'SESSION_EXISTS'
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
