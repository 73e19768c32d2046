/** Reads the text and the reasoning from an answer or a chunk, in all the forms that servers use. */
import { isObject } from '../../core/is-object.ts'

export interface Said {
  text: string
  /** What the model thought, for people. */
  reasoning: string
  /** Whether the server marks the text as a refusal. */
  refused: boolean
  /** What DeepSeek, and servers like it, want back. */
  reasoningContent: string
}

/** @param message a whole message, or the delta of a chunk */
export function readSaid(message: Readonly<Record<string, unknown>>): Said {
  const { content, refusal, reasoning_content: wanted, reasoning } = message
  const parts = Array.isArray(content) ? content.map(readPart) : [{ text: textOf(content), thought: '' }]
  const reasoningContent = textOf(wanted)
  const thought = parts.map((part) => part.thought).join('')
  return {
    text: parts.map(({ text }) => text).join('') || textOf(refusal),
    reasoning: reasoningContent || textOf(reasoning) || thought,
    refused: textOf(refusal) !== '',
    reasoningContent,
  }
}

/** Mistral sends `{ type: 'thinking', thinking: [{ type: 'text', text }] }` beside `{ type: 'text', text }`. */
function readPart(part: unknown): { text: string; thought: string } {
  if (typeof part === 'string') return { text: part, thought: '' }
  if (!isObject(part)) return { text: '', thought: '' }
  const { type, text, thinking } = part
  if (type !== 'thinking') return { text: textOf(text), thought: '' }
  const thought = Array.isArray(thinking) ? thinking.map((each) => readPart(each).text).join('') : textOf(thinking)
  return { text: '', thought }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
