/** Adds text at the end of a conversation's system prompt. Without a prompt, the text becomes the prompt. */
import type { Message } from '../../core/message.ts'

export function addToSystem(messages: readonly Message[], text: string): Message[] {
  const [first, ...rest] = messages
  if (first?.role !== 'system') return [{ role: 'system', content: text }, ...messages]
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
}
