/**
 * What the record of a Claude answer keeps beside its text and its calls: the thinking, and where it stood. The
 * thinking goes back unchanged, because Anthropic has signed it.
 */
import type Anthropic from '@anthropic-ai/sdk'
import type { Message, ProviderData } from '../../core/message.ts'

/** Its key in `Completion.provider`. */
const KEY = 'anthropic'
/** In characters of JSON. Longer thinking is dropped: the record could not hold it, and the answer would be lost. */
const KEPT_LIMIT = 1024 * 1024

type Thinking = Anthropic.ThinkingBlock | Anthropic.RedactedThinkingBlock

/** One block of an answer: thinking as it came, or a mark that a piece of the text or a call stood here. */
type Kept = Thinking | { type: 'text'; length: number } | { type: 'call' }

/** What is kept of an answer. */
interface ClaudeRecord {
  blocks: Kept[]
  /** The server that has signed the thinking. Another server that speaks Anthropic's API would refuse it. */
  host: string
  /** Hash of everything that was sent before the answer. Set if the model binds its thinking to that. */
  prompt?: string
}

/** @returns undefined when the answer has no thinking or too much of it. Text and calls are in the record already */
export function toProviderData(
  content: readonly Anthropic.ContentBlock[],
  { prompt, host }: { prompt: string | undefined; host: string },
): ProviderData | undefined {
  const blocks = content.flatMap((block): Kept[] => {
    if (block.type === 'text') return [{ type: 'text', length: block.text.length }]
    if (block.type === 'tool_use') return [{ type: 'call' }]
    return block.type === 'thinking' || block.type === 'redacted_thinking' ? [block] : []
  })
  if (!blocks.some(isThinking)) return undefined
  const data = { [KEY]: { blocks, host, ...(prompt !== undefined && { prompt }) } satisfies ClaudeRecord }
  return JSON.stringify(data).length <= KEPT_LIMIT ? data : undefined
}

/**
 * The blocks of an assistant's record, in their order.
 *
 * @param prompt returns the hash of what is sent before the message; undefined if thinking is valid after every prompt
 * @param thinking whether thinking is sent at all
 * @param host the server that is asked
 */
export function toBlocks(
  message: Message,
  { prompt, thinking, host }: { prompt: (() => string) | undefined; thinking: boolean; host: string },
): Anthropic.ContentBlockParam[] {
  const texts = textBlock(message.content)
  const calls = (message.toolCalls ?? []).map(toToolUse)
  const kept = thinking ? readRecord(message) : undefined
  if (kept?.host !== host) return [...texts, ...calls]
  const whole = inOrder(message.content, calls, kept.blocks)
  if (!prompt) return whole ?? [...kept.blocks.filter(isThinking), ...texts, ...calls]
  return whole && kept.prompt === prompt() ? whole : [...texts, ...calls]
}

/** @returns undefined when text or calls differ from what the model wrote, or when one of them cannot be sent */
function inOrder(
  content: string,
  calls: readonly Anthropic.ToolUseBlockParam[],
  blocks: readonly Kept[],
): Anthropic.ContentBlockParam[] | undefined {
  let [at, call] = [0, 0]
  const result: Anthropic.ContentBlockParam[] = []
  for (const block of blocks) {
    if (block.type === 'text') {
      const text = content.slice(at, (at += block.length))
      if (text.trim() === '') return undefined
      result.push({ type: 'text', text })
    } else if (block.type === 'call') {
      const next = calls[call++]
      if (!next) return undefined
      result.push(next)
    } else result.push(block)
  }
  return at === content.length && call === calls.length ? result : undefined
}

function readRecord({ provider }: Message): ClaudeRecord | undefined {
  const data = provider?.[KEY]
  const blocks = (data as Partial<ClaudeRecord> | undefined)?.blocks
  return Array.isArray(blocks) ? (data as ClaudeRecord) : undefined
}

function isThinking(block: { type: string }): block is Thinking {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

/** Anthropic refuses a request with a blank text. */
export function textBlock(text: string): Anthropic.TextBlockParam[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

function toToolUse({
  id,
  name,
  arguments: text,
}: NonNullable<Message['toolCalls']>[number]): Anthropic.ToolUseBlockParam {
  return { type: 'tool_use', id, name, input: JSON.parse(text) as Record<string, unknown> }
}
