/**
 * A model that answers from a script: for tests without a provider. It never reads a clock and never draws a random
 * number.
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { StelloError, type ErrorCode } from '../core/errors.ts'
import type { Message, ProviderData, ToolCall, Usage } from '../core/message.ts'
import type { CompleteOptions, Completion, Model, ToolSpec } from '../core/model.ts'
import { orAborted } from '../core/or-aborted.ts'
import { noticed } from '../models/asked-around.ts'

/** A call that the scripted model makes. */
export interface ReplyToolCall {
  /** The tool's name. */
  name: string
  /** Text is sent as it is, also broken JSON. Unset = `{}`. */
  arguments?: object | string
  /** Unset = derived from the conversation's length: the same after a crash, unique in a session. */
  id?: string
}

/** An error that the scripted model throws. */
export interface ReplyError {
  /** Its code. */
  code: Extract<ErrorCode, `MODEL_${string}`>
  /** What went wrong. */
  message: string
  /** What the reader can do about it. */
  hint?: string
  /** Milliseconds. */
  retryAfterMs?: number
}

/** A reply with all its details. */
export interface FullReply {
  /** Its text. */
  content?: string
  /** The tools it calls. */
  toolCalls?: ReplyToolCall[]
  /** Unset = a quarter of the characters. */
  usage?: Usage
  /** Unset = `tool_calls` with calls, else `stop`. */
  finishReason?: Completion['finishReason']
  /** What it thinks first, as far as its provider shows that. */
  reasoning?: string
  /** The model that the reply names as its author. Unset = none. */
  model?: string
  /** What its provider wants back with it. Unset = nothing. */
  provider?: ProviderData
  /** Thrown instead of an answer. */
  error?: ReplyError | Error
  /** Milliseconds before the answer begins. */
  delay?: number
  /** The pieces the text streams in, instead of `content`. Unset = word by word. */
  deltas?: string[]
}

/** What the scripted model replies: text, or a reply with all its details. */
export type Reply = string | FullReply

/** A request that the scripted model got. */
export interface ScriptRequest {
  /** The conversation. */
  messages: Message[]
  /** The tools it may call. */
  tools: ToolSpec[]
  /** How many calls this model object has had before, over all sessions. */
  call: number
}

/** Makes the reply from the request. */
export type ScriptFunction = (request: ScriptRequest) => Reply | Promise<Reply>

/** Replies in order, or what to reply to a request. */
export type Script = Reply[] | ScriptFunction

/** A model that answers from a script, and keeps what it was asked. */
export interface ScriptedModel extends Model {
  /** Every request seen, in order. */
  readonly calls: ScriptRequest[]
}

/**
 * A model for tests. Prefer a function of the messages: unlike a list it stays right when several sessions share the
 * model and when a call is repeated after a crash.
 *
 * @param script replies in order, or a function of the request
 * @param options `name`, shown to people; default `scripted`
 * @returns a model that streams its text and its calls, stops on abort, and remembers its `calls`; a list that has
 *   ended throws MODEL_REFUSED_REQUEST
 * @example
 * const model = scriptedModel([{ toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] }, 'Rain.'])
 */
export function scriptedModel(script: Script, { name = 'scripted' }: { name?: string } = {}): ScriptedModel {
  const calls: ScriptRequest[] = []
  const choose = typeof script === 'function' ? script : inOrder(script, name)
  return noticed({
    name,
    calls,
    async complete(messages, { tools = [], signal, onDelta } = {}): Promise<Completion> {
      const request = { messages: [...messages], tools, call: calls.length }
      calls.push(request)
      const chosen = await orAborted(Promise.resolve(request).then(choose), signal)
      const reply: FullReply = typeof chosen === 'string' ? { content: chosen } : chosen
      if (reply.delay) await orAborted(setTimeout(reply.delay, undefined, signal && { signal }), signal)
      if (reply.error) throw toError(reply.error)
      const completion = toCompletion(reply, request.messages)
      await stream(completion, reply, { onDelta, signal })
      return completion
    },
  })
}

function inOrder(replies: Reply[], name: string): ScriptFunction {
  return ({ call }) => {
    const reply = replies[call]
    if (reply !== undefined) return reply
    throw new StelloError(
      'MODEL_REFUSED_REQUEST',
      `model ${name}: no reply for call ${call + 1}, the script has ${replies.length}`,
      {
        hint: 'add a reply, or give a function of the messages',
      },
    )
  }
}

function toCompletion(
  { content, deltas, toolCalls = [], usage, finishReason, model, provider }: FullReply,
  messages: Message[],
): Completion {
  const text = deltas?.join('') ?? content ?? ''
  const calls = toolCalls.map((call, index): ToolCall => {
    const { name, arguments: args = {}, id = `call_${messages.length}_${index}` } = call
    return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }
  })
  return {
    content: text,
    toolCalls: calls,
    usage: usage ?? { inputTokens: tokensOf(messages), outputTokens: tokensOf({ text, calls }) },
    finishReason: finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
  }
}

function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4)
}

/** Yields after each piece, as a network does, so that a watcher can read it and cancel. */
async function stream(
  { content, toolCalls }: Completion,
  { reasoning = '', deltas = words(content) }: FullReply,
  { onDelta, signal }: { onDelta: CompleteOptions['onDelta']; signal: AbortSignal | undefined },
): Promise<void> {
  signal?.throwIfAborted()
  if (!onDelta) return
  const said = [
    ...words(reasoning).map((text) => ({ type: 'reasoning' as const, text })),
    ...deltas.map((text) => ({ type: 'text' as const, text })),
  ]
  for (const delta of said) {
    onDelta(delta)
    await setImmediate()
    signal?.throwIfAborted()
  }
  for (const [index, { id, name, arguments: args }] of toolCalls.entries()) {
    const half = Math.ceil(args.length / 2)
    onDelta({ type: 'toolCall', index, id, name, arguments: args.slice(0, half) })
    await setImmediate()
    signal?.throwIfAborted()
    if (half < args.length) onDelta({ type: 'toolCall', index, arguments: args.slice(half) })
  }
}

function words(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? (text ? [text] : [])
}

function toError(error: ReplyError | Error): Error {
  if (error instanceof Error) return error
  const { code, message, ...options } = error
  return new StelloError(code, message, options)
}
