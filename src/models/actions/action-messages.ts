/**
 * Turns a transcript with tool calls into plain messages of the JSON action protocol. It must never leave out a result.
 */
import { isObject } from '../../core/is-object.ts'
import type { Message, ToolCall } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'
import { quoteOf } from './action-reply.ts'
import { addToSystem } from './add-to-system.ts'

const PROTOCOL = `To use a tool, output a JSON object (bare or in a markdown code block):
{"action": "<tool_name>", "<param1>": "<value1>", ...}
For a tool with a parameter named "action" or "params":
{"action": "<tool_name>", "params": {"<param1>": "<value1>", ...}}

One action per reply, on lines of its own, and nothing after it: the next message brings its result.

To answer directly, output plain text — do NOT use JSON.`

/** How the tools are described in the system prompt. */
export type ToolsPrompt = (tools: readonly ToolSpec[]) => string

export function toActionMessages(
  messages: readonly Message[],
  tools: readonly ToolSpec[],
  toolsPrompt: ToolsPrompt,
): Message[] {
  const plain = messages.map(toPlain)
  return tools.length === 0 ? plain : addToSystem(plain, `${PROTOCOL}\n\n${toolsPrompt(tools)}`)
}

function toPlain(message: Message): Message {
  const { role, content, toolCalls, parts } = message
  if (role === 'tool') return { role: 'user', content: toResultText(message), ...(parts && { parts }) }
  if (!toolCalls) return message
  return { role, content: [content, ...toolCalls.map(toActionText)].filter((text) => text !== '').join('\n\n') }
}

/** A past call in our own form. If the model wrote no valid call, its text as it was written. */
function toActionText({ name, arguments: text }: ToolCall): string {
  const args = parseArguments(text)
  if (!args) return quoteOf(text)
  return JSON.stringify(
    'action' in args || 'params' in args ? { action: name, params: args } : { action: name, ...args },
  )
}

function parseArguments(text: string): Record<string, unknown> | undefined {
  try {
    const args: unknown = text.trim() === '' ? {} : JSON.parse(text)
    return isObject(args) ? args : undefined
  } catch {
    return undefined
  }
}

/** A call of an unknown tool is answered in the words of the protocol: `error: …`. */
function toResultText({ content, isError }: Message): string {
  if (!isError) return `tool output:\n${content}`
  const unknown = 'TOOL_NOT_FOUND: '
  return content.startsWith(unknown) ? `error: ${content.slice(unknown.length)}` : `tool error:\n${content}`
}
