/** Puts text behind the system prompt of a conversation; without one it becomes the prompt. */
import type { Message } from '../core/message.ts'

export function addToSystem(messages: readonly Message[], text: string): Message[] {
  const [first, ...rest] = messages
  if (first?.role !== 'system') return [{ role: 'system', content: text }, ...messages]
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
}
