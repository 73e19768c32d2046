/** Asks a text model that gives the stated reply, and collects what people are shown. */
import type { Message } from '../../src/core/message.ts'
import type { Completion, ModelDelta, ToolSpec } from '../../src/core/model.ts'
import { jsonActions } from '../../src/models/actions/json-actions.ts'
import { scriptedModel, type Reply } from '../../src/testing/index.ts'

export const QUESTION: Message[] = [{ role: 'user', content: 'What is here?' }]
const SHELL: ToolSpec = {
  name: 'shell',
  description: 'Execute a command',
  parameters: { type: 'object', properties: { command: { type: 'string', description: 'The command' } } },
}
export const TOOLS: ToolSpec[] = [
  SHELL,
  { name: 'judge', description: 'Judges', parameters: { type: 'object', properties: { action: {} } } },
  { name: 'send', description: 'Sends', parameters: { type: 'object', properties: { params: {} } } },
]
export const LS = '{"action": "shell", "command": "ls"}'
export const READS: ToolSpec[] = [{ ...SHELL, readOnly: true }]

/** @returns the completion, `shown` to people as text, and what the model was `asked` */
export async function ask(
  reply: Reply,
  messages: Message[] = QUESTION,
  tools: ToolSpec[] = TOOLS,
): Promise<Completion & { shown: string; asked: Message[] }> {
  const inner = scriptedModel([reply])
  const deltas: ModelDelta[] = []
  const completion = await jsonActions(inner).complete(messages, { tools, onDelta: (one) => deltas.push(one) })
  const shown = deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : []))
  return { ...completion, shown: shown.join(''), asked: inner.calls[0]?.messages ?? [] }
}

/** Names and arguments. Arguments that are no JSON stay text. */
export async function callsOf(reply: Reply): Promise<[string, unknown][]> {
  const { toolCalls } = await ask(reply)
  return toolCalls.map(({ name, arguments: text }) => [name, text.startsWith('{') ? JSON.parse(text) : text])
}
