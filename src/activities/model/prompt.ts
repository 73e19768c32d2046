/**
 * Where a prompt is made: the only place that turns a session's configuration, its transcript and the question into what
 * a model is asked with. Pure. A record is never changed here: what the model shall not read, or shall read in other
 * words, is decided for this prompt alone.
 */
import type { Message } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import type { NewSummary } from '../../store/summaries.ts'
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
  /** It takes more than it may, by that estimate. */
  full: boolean
}

export interface PromptParts {
  config: Pick<SessionConfig, 'systemPrompt'>
  /** The conversation so far: what stands for its beginning, and what was said since, inherited messages first. */
  transcript: { summary?: Standing; messages: readonly Message[] }
  /** The user's message, where this call begins a turn. */
  question?: Message | undefined
  tools: readonly ToolSpec[]
  /** What the model has room for. Unset: nobody knows. */
  room?: Room | undefined
  /** How often its provider has refused the turn's prompts as too long. */
  refusals?: number | undefined
}

/** A summary, as far as a model reads it. */
export type Standing = Pick<NewSummary, 'text' | 'question' | 'standsFor'>

/** An empty system prompt is none. Old tool results are shortened only if the prompt is too long otherwise. */
export function makePrompt(parts: PromptParts): Prompt {
  const { config, transcript, question, tools, room, refusals = 0 } = parts
  const system = config.systemPrompt || undefined
  const whole = [
    ...(transcript.summary ? [summaryMessage(transcript.summary)] : []),
    ...transcript.messages,
    ...(question ? [question] : []),
  ]
  const made = (messages: readonly Message[]): Prompt => {
    const tokens = promptTokens(system, messages, tools)
    return { ...(system && { system }), messages, tools, tokens, full: room !== undefined && tokens > room.limit }
  }
  if (refusals > 0) return made(shortenAll(whole, refusals))
  const prompt = made(whole)
  return prompt.full && room ? made(shortenOld(whole, room)) : prompt
}

/** What a model reads instead of the messages that the summary stands for. */
export function summaryMessage({ text, question, standsFor }: Standing): Message {
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
