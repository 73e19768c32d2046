/** Tools of `stello mcp` that decide: they pass on a person's answer, and resume or cancel a job. */
import { setTimeout as pause } from 'node:timers/promises'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import type { AnswerOptions, SessionHandle, StelloClient } from '../../client/index.ts'
import { DECISIONS, PENDING_KINDS, decisionsOf } from '../../protocol/pending.ts'
import { answering, sessionId } from './mcp-answers.ts'

const TAKEN_WITHIN_MS = 5000
const LOOK_EVERY_MS = 100

const asked = PENDING_KINDS.map((kind) => `${kind}: ${decisionsOf(kind).join(' or ')}`).join('; ')

export function addDecidingTools(server: McpServer, stello: StelloClient): void {
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
        // A wait that begins now must not be held up by the item that has just been answered.
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
}

/** Whether an item no longer waits. Without a worker it still waits, although its answer was sent. */
async function isGone(session: SessionHandle, item: string): Promise<boolean> {
  for (const begun = performance.now(); performance.now() - begun < TAKEN_WITHIN_MS; await pause(LOOK_EVERY_MS)) {
    if (!(await session.pending()).some(({ id }) => id === item)) return true
  }
  return false
}
