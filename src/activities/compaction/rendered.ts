/**
 * A conversation as text, for the model that summarises it. Text and not messages: no provider's rules about calls and
 * results apply to it, and what a provider keeps for itself (reasoning, signatures) is not in it.
 */
import { preview, type Message } from '../../core/message.ts'

/** How much of a text is shown, in UTF-16 units. */
const SAID = 8000
const RESULT = 2000
const ARGUMENTS = 1000

/** Oldest message first. Never throws. */
export function rendered(messages: readonly Message[]): string {
  return messages.map(one).join('\n\n')
}

function one({ role, content, name, isError, toolCalls = [], parts = [] }: Message): string {
  const images = parts.filter(({ type }) => type === 'image').length
  const shown = role === 'tool' ? excerpt(content, RESULT) : excerpt(content, SAID)
  const who = role === 'tool' ? `${isError ? 'error' : 'result'} of ${name ?? 'a tool'}` : role
  const calls = toolCalls.map((call) => `→ calls ${call.name} ${preview(call.arguments, ARGUMENTS)}`)
  return [`[${who}] ${shown}`, ...calls, ...(images > 0 ? [`(with ${images} pictures)`] : [])].join('\n')
}

/** The beginning and the end: the end of a long text often tells how it came out. */
function excerpt(text: string, limit: number): string {
  if (text.length <= limit) return text
  const tail = Math.floor(limit / 4)
  return `${preview(text, limit - tail)} [${text.length - limit} characters left out] ${text.slice(-tail)}`
}
