/**
 * What a record of Claude's keeps beside its text and its calls: the thinking, and where it stood. It goes back unchanged,
 * because Anthropic has signed it.
 */
import type Anthropic from '@anthropic-ai/sdk'
import type { Message, ProviderData } from '../../core/message.ts'

/** Its key in `Completion.provider`. */
const KEY = 'anthropic'
/** Thinking beyond this is left behind: a record would not take it, and the answer would be lost. */
const KEPT_LIMIT = 1024 * 1024

type Thinking = Anthropic.ThinkingBlock | Anthropic.RedactedThinkingBlock

/** One block of an answer: thinking as it came, or which piece of the text or which call stood here. */
type Kept = Thinking | { type: 'text'; length: number } | { type: 'call' }

/** What is kept of an answer. */
interface ClaudeRecord {
  blocks: Kept[]
  /** Of the server that has signed the thinking: another one that speaks Anthropic's API refuses it. */
  host: string
  /** Of everything that was sent before the answer, where the model binds its thinking to that. */
  prompt?: string
}

/** @returns undefined when the answer has no thinking, or too much: text and calls are in the record already */
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
 * @param prompt of what is sent before it; undefined where thinking is valid behind every prompt
 * @param thinking whether thinking is sent at all
 * @param host which is asked
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

/** @returns undefined when text or calls are not those that the model wrote, or when one of them cannot be sent */
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
