/**
 * Signs thinking as Anthropic does, so that a fake server can tell whether it came back unchanged. From version 5.1 on it is
 * valid only behind the prompt that it was written for.
 */
import { createHash } from 'node:crypto'
import { blocksOf, type MessagesBlock, type MessagesRequest, type MessagesTurn } from './messages-request.ts'

const VERSION = /claude-(?:[a-z]+-)?(\d)(?:-(\d{1,2}))?(?!\d)/

/** Of a model with `claude` in its name; a name without one counts as 99. */
export function versionOf(model: string): number {
  const [, major = '99', minor = '0'] = VERSION.exec(model) ?? []
  return Number(major) + Number(minor) / 10
}

export function isThinking({ type }: MessagesBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** What is sent before the `end`-th message. Cache points are no part of it. */
export function promptBefore({ system, tools, messages }: MessagesRequest, end: number): string {
  return hashOf([system, tools, messages.slice(0, end).map(({ role, content }) => [role, blocksOf(content)])])
}

/** @param prompt what `promptBefore` gives for it; used where the model binds its thinking */
export function signThinking(model: string, text: string, prompt: string): string {
  return `${hashOf(text)}.${versionOf(model) >= 5.1 ? prompt : 'any'}`
}

/** Whether thinking came back as it was; `moved`: it did, but behind another prompt. */
export function checkThinking(block: MessagesBlock, prompt: string): 'valid' | 'forged' | 'moved' {
  const [text, signed] = block.type === 'thinking' ? [block.thinking, block.signature] : unpack(block.data ?? '')
  const [content, bound] = (signed ?? '').split('.')
  if (content !== hashOf(text ?? '')) return 'forged'
  return bound === 'any' || bound === prompt ? 'valid' : 'moved'
}

export function redact(text: string, signature: string): string {
  return Buffer.from(JSON.stringify([text, signature])).toString('base64')
}

function unpack(data: string): [text?: string, signature?: string] {
  try {
    return JSON.parse(Buffer.from(data, 'base64').toString()) as [string, string]
  } catch {
    return []
  }
}

/** The thinking of a turn, to find out whether it is missing. */
export function thinkingOf({ content }: MessagesTurn): string[] {
  return blocksOf(content)
    .filter(isThinking)
    .map((block) => block.signature ?? block.data ?? '')
}

/** Names the calls of an answer. */
export function nameCalls(calls: readonly Pick<MessagesBlock, 'id' | 'name' | 'input'>[]): string {
  return JSON.stringify(calls.map(({ id, name, input }) => [id, name, input]))
}

function hashOf(value: unknown): string {
  const text = JSON.stringify(value, (key, each: unknown) => (key === 'cache_control' ? undefined : each))
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
