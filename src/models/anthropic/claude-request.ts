/** Turns our messages into a request of Anthropic's Messages API. Pure. */
import type Anthropic from '@anthropic-ai/sdk'
import { legalTranscript, type LegalMessage } from '../../core/legal-transcript.ts'
import type { ImagePart, Message } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'
import { PromptHash } from '../prompt-hash.ts'
import { setCachePoints } from './claude-cache.ts'
import { bindsThinking, defaultMaxTokens } from './claude-facts.ts'
import type { ClaudeOptions, ClaudeThinking } from './claude-options.ts'
import { textBlock, toBlocks } from './claude-record.ts'

type Body = Anthropic.MessageCreateParamsNonStreaming

/** A message with its content as a list. */
export interface Turn {
  role: 'user' | 'assistant'
  content: Anthropic.ContentBlockParam[]
}

/** A request, and the hash of the prompt that its answer is bound to. */
export interface ClaudeRequest {
  body: Body
  /** Hash of everything that is sent before the answer; undefined if the model does not bind its thinking to it. */
  prompt: string | undefined
  /** For each message of the body, the place in the given list of the message that it begins with. */
  from: readonly (number | undefined)[]
}

/** Anthropic wants a user's message at the beginning, and newer models also want one at the end. */
const GO_ON = 'Go on.'
const IMAGES = /^image\/(jpeg|png|gif|webp)$/

/** @param host the server that is asked: it gets back only its own thinking */
export function toClaudeRequest(
  options: ClaudeOptions,
  messages: readonly Message[],
  { tools: specs = [], host }: { tools?: readonly ToolSpec[] | undefined; host: string },
): ClaudeRequest {
  const { model, temperature, effort, cache = '5m', extraBody } = options
  const legal = legalTranscript(messages)
  const begin = legal.findIndex(({ message }) => message.role !== 'system')
  const talk = begin === -1 ? [] : legal.slice(begin)
  const rules = begin === -1 ? legal : legal.slice(0, begin)
  const system = rules.map(({ message }) => message.content).join('\n\n')
  const tools = specs.length > 0 ? specs.map(toTool) : toolsOfCalls(talk)
  const prompt = bindsThinking(model) ? new PromptHash([system, tools]) : undefined
  const { turns, from } = toTurns(talk, prompt, { thinking: options.thinking?.type !== 'disabled', host })
  const thinking = possibleThinking(options.thinking, turns)
  const bound = prompt?.hash(turns)
  const body: Body = {
    model,
    max_tokens: maxTokensOf(options),
    messages: turns as Anthropic.MessageParam[],
    ...(system !== '' && { system: textBlock(system) }),
    ...(tools.length > 0 && { tools }),
    // The tools are defined only because the transcript has calls of them. The model must not call them.
    ...(specs.length === 0 && tools.length > 0 && { tool_choice: { type: 'none' } }),
    ...(temperature !== undefined && { temperature }),
    ...(thinking && { thinking: toThinking(thinking) }),
    ...(effort !== undefined && { output_config: { effort } }),
    ...extraBody,
  }
  if (cache !== false) setCachePoints(body, cache)
  return { body, prompt: bound, from }
}

export function maxTokensOf({ model, maxTokens, thinking }: ClaudeOptions): number {
  return maxTokens ?? defaultMaxTokens(model, thinking?.type === 'enabled' ? thinking.budgetTokens : 0)
}

function toTurns(
  messages: readonly LegalMessage[],
  prompt: PromptHash | undefined,
  whose: { thinking: boolean; host: string },
): { turns: Turn[]; from: (number | undefined)[] } {
  const turns: Turn[] = []
  const places: (number | undefined)[] = []
  const add = (role: Turn['role'], content: readonly Anthropic.ContentBlockParam[], from?: number): void => {
    if (content.length === 0) return
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else places[turns.push({ role, content: [...content] }) - 1] = from
  }
  for (const { message, from } of messages) {
    if (message.role === 'assistant') {
      // If the model binds its thinking to the prompt, two answers in a row must not become one: the thinking of the
      // second one was written for another prompt and would be lost.
      const together = prompt !== undefined && turns.at(-1)?.role === 'assistant'
      if (turns.length === 0 || together) add('user', textBlock(GO_ON))
      add('assistant', toBlocks(message, { prompt: prompt && (() => prompt.hash(turns)), ...whose }), from)
    } else if (message.role === 'tool') add('user', [toResult(message)], from)
    else add('user', [...textBlock(message.content), ...imagesOf(message)], from)
  }
  if (turns.at(-1)?.role !== 'user') add('user', textBlock(GO_ON))
  return { turns, from: places }
}

/**
 * With a thinking budget, the answer whose calls are being answered must begin with thinking. If it does not, for
 * example because another model gave that answer, this request goes without thinking.
 */
function possibleThinking(thinking: ClaudeThinking | undefined, turns: readonly Turn[]): ClaudeThinking | undefined {
  if (thinking?.type !== 'enabled' || !isAnswer(turns.at(-1))) return thinking
  const begin = turns.findLastIndex((turn) => turn.role === 'user' && !isAnswer(turn))
  const first = turns[begin + 1]?.content[0]?.type
  return first === 'thinking' || first === 'redacted_thinking' ? thinking : undefined
}

/** Whether a turn holds nothing but results of calls. */
function isAnswer(turn: Turn | undefined): boolean {
  return turn?.role === 'user' && turn.content.every(({ type }) => type === 'tool_result')
}

function toThinking(thinking: ClaudeThinking): Anthropic.ThinkingConfigParam {
  if (thinking.type !== 'enabled') return thinking
  const { budgetTokens, ...rest } = thinking
  return { ...rest, budget_tokens: budgetTokens }
}

function toTool({ name, description, parameters }: ToolSpec): Anthropic.Tool {
  return { name, description, input_schema: parameters as Anthropic.Tool.InputSchema }
}

/** Anthropic refuses calls in a transcript when no tool is defined. */
function toolsOfCalls(messages: readonly LegalMessage[]): Anthropic.Tool[] {
  const names = messages.flatMap(({ message: { toolCalls = [] } }) => toolCalls.map(({ name }) => name))
  return [...new Set(names)].map((name) => ({ name, input_schema: { type: 'object' } }))
}

function toResult(message: Message): Anthropic.ToolResultBlockParam {
  const text = textBlock(message.content)
  const content = [...text, ...imagesOf(message)]
  // An error must have a text.
  const told = content.length > 0 || !message.isError ? content : textBlock('the call failed')
  return {
    type: 'tool_result',
    tool_use_id: message.toolCallId ?? '',
    ...(told.length > 0 && { content: told }),
    ...(message.isError && { is_error: true }),
  }
}

function imagesOf({ parts = [] }: Message): (Anthropic.ImageBlockParam | Anthropic.TextBlockParam)[] {
  return parts
    .filter((part): part is ImagePart => part.type === 'image')
    .flatMap(({ data, mimeType }): (Anthropic.ImageBlockParam | Anthropic.TextBlockParam)[] => {
      if (!IMAGES.test(mimeType)) return textBlock(`(an image of type ${mimeType}, which cannot be shown)`)
      const media = mimeType as Anthropic.Base64ImageSource['media_type']
      return [{ type: 'image', source: { type: 'base64', media_type: media, data } }]
    })
}
