/**
 * Where a prompt is made: the only place that turns a session's configuration, its transcript and the question into what
 * a model is asked with. Pure. A record is never changed here: what the model shall not read, or shall read in other
 * words, is decided for this prompt alone.
 */
import type { Message } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'
import type { SessionConfig } from '../../protocol/config.ts'

export interface Prompt {
  /** Unset: none. */
  system?: string
  /** The conversation, its oldest message first. */
  messages: readonly Message[]
  tools: readonly ToolSpec[]
}

export interface PromptParts {
  config: Pick<SessionConfig, 'systemPrompt'>
  /** The conversation so far, what was inherited first. */
  transcript: readonly Message[]
  /** The user's message, where this call begins a turn. */
  question?: Message | undefined
  tools: readonly ToolSpec[]
}

/** An empty system prompt is none. */
export function makePrompt({ config: { systemPrompt }, transcript, question, tools }: PromptParts): Prompt {
  return {
    ...(systemPrompt && { system: systemPrompt }),
    messages: question ? [...transcript, question] : transcript,
    tools,
  }
}

/** The messages as `Model.complete` takes them: the system prompt is the first. */
export function toMessages({ system, messages }: Prompt): Message[] {
  return [...(system === undefined ? [] : [{ role: 'system' as const, content: system }]), ...messages]
}
