/** Shared by all tools of `stello mcp`: the form of answers, and the name of a session. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { explain } from '../output/output.ts'

export const sessionId: z.ZodString = z.string().min(1).describe('As start returned it')
/** Annotations of a tool that changes nothing. */
export const READS: { readOnlyHint: true; openWorldHint: false } = { readOnlyHint: true, openWorldHint: false }

/** Objects as JSON; failures as the command would print them. */
export async function answering(work: () => Promise<string | Record<string, unknown>>): Promise<CallToolResult> {
  try {
    const value = await work()
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return { content: [{ type: 'text', text }] }
  } catch (error) {
    return { content: [{ type: 'text', text: explain(error) }], isError: true }
  }
}
