/**
 * Makes a prompt: the only place that turns a session's configuration, its transcript and the question into the messages for
 * a model. Pure. A record is never changed here: leaving a record out or shortening it holds for this prompt alone.
 */
import type { Message } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import type { NewSummary } from '../../store/transcript/summaries.ts'
import type { Room } from './room.ts'
import { shortenAll, shortenOld } from './shorten-results.ts'
import { promptTokens } from './token-estimate.ts'

export interface Prompt {
  /** Unset: none. */
  system?: string
  /** The conversation, its oldest message first. */
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  /** Our estimate of what all this takes. */
  tokens: number
  /** By that estimate, the prompt is too long. */
  full: boolean
}

export interface PromptParts {
  config: Pick<SessionConfig, 'systemPrompt'>
  /** The conversation so far: the summary of its beginning, and the messages since then, inherited ones first. */
  transcript: Conversation
  /** The user's message, where this call begins a turn. */
  question?: Message | undefined
  tools: readonly ToolSpec[]
  /** The room that the model has. Unset: nobody knows. */
  room?: Room | undefined
  /** How often its provider has refused the turn's prompts as too long. */
  refusals?: number | undefined
}

/** The summary of the beginning, if there is one, and the messages since then. */
export interface Conversation {
  summary?: Standing
  messages: readonly Message[]
}

/** A summary, as far as a model reads it. */
export type Standing = Pick<NewSummary, 'text' | 'question' | 'standsFor'>

/** An empty system prompt is none. Old tool results are shortened only if the prompt is too long otherwise. */
export function makePrompt(parts: PromptParts): Prompt {
  const { config, transcript, question, tools, room, refusals = 0 } = parts
  const system = config.systemPrompt || undefined
  const whole = [...conversationOf(transcript), ...(question ? [question] : [])]
  const made = (messages: readonly Message[]): Prompt => {
    const tokens = promptTokens(system, messages, tools)
    return { ...(system && { system }), messages, tools, tokens, full: room !== undefined && tokens > room.limit }
  }
  if (refusals > 0) return made(shortenAll(whole, refusals))
  const prompt = made(whole)
  return prompt.full && room ? made(shortenOld(whole, room)) : prompt
}

/** The conversation as a model reads it. */
export function conversationOf({ summary, messages }: Conversation): Message[] {
  return summary ? [summaryMessage(summary), ...messages] : [...messages]
}

/** The message that a model reads instead of the summarised ones. */
function summaryMessage({ text, question, standsFor }: Standing): Message {
  const lines = [
    `[${standsFor} earlier messages of this conversation are not shown. In their place stands this summary:]`,
    text,
    question === undefined
      ? '[End of the summary. The conversation goes on.]'
      : '[End of the summary. This is the message that you are answering; what you have done since follows:]',
    ...(question === undefined ? [] : [question]),
  ]
  return { role: 'user', content: lines.join('\n\n') }
}

/** The messages as `Model.complete` takes them: the system prompt is the first. */
export function toMessages({ system, messages }: Pick<Prompt, 'system' | 'messages'>): Message[] {
  return [...(system === undefined ? [] : [{ role: 'system' as const, content: system }]), ...messages]
}
