/**
 * The JSON action protocol around a model that only knows text. It keeps nothing between calls: everything it needs is
 * in the messages. It must never run a part of an action, and never show an action's JSON as text.
 */
import type { Message } from '../../core/message.ts'
import type { Completion, Model, ModelLike } from '../../core/model.ts'
import { factsOf, fallbackOf, toModel } from '../../agent/to-model.ts'
import { generateToolsPrompt } from '../../agent/tools-prompt.ts'
import { toActionMessages, type ToolsPrompt } from './action-messages.ts'
import { ActionStream } from './action-stream.ts'
import { readActions } from './action-reply.ts'
import { noticed } from '../asked-around.ts'

/** Gets system, user and assistant messages, and answers with text. */
export type TextModel = (messages: Message[], signal?: AbortSignal) => Promise<string>

/** How `jsonActions` shows the model and its tools. */
export interface JsonActionsOptions {
  /** Shown to people. Default: the model's own name. */
  name?: string
  /** How the system prompt describes the tools. Default `generateToolsPrompt`; `buildToolsPrompt` is shorter. */
  toolsPrompt?: ToolsPrompt
}

/** A message costs at most ten model calls. This stops a model that repeats itself. */
const MAX_TOOL_ROUNDS = 9

/**
 * Lets any text model call tools. The system prompt describes the tools. The model calls a tool by answering
 * `{"action": "<tool>", …parameters}`, or in a form that open models are trained on (`docs/models.md`). Results come
 * back as user messages. Of our own form, one action per reply runs; of the other forms, every call runs. If the tool
 * of an action changes something, the action must end the reply, on lines of its own or in a code block, because a
 * model also quotes actions that it refuses to do. Any other action is answered with an error that the model can read.
 * So is an action that is cut off, broken, or longer than 256 Ki characters. Unless the agent or the profile states
 * `maxToolRounds`, a message costs at most 10 model calls.
 *
 * @param model a model, or a function from messages to text (its tokens are not counted)
 * @returns its `complete` throws what `model` throws
 * @example
 * const llm = jsonActions(async (messages) => (await ollama.chat({ model: 'gemma3', messages })).message.content)
 */
export function jsonActions(model: ModelLike | TextModel, options: JsonActionsOptions = {}): Model {
  const inner = toModel(typeof model === 'function' ? fromText(model) : model, 'jsonActions')
  const { name = inner.name, toolsPrompt = generateToolsPrompt } = options
  return noticed({
    ...factsOf(inner),
    ...fallbackOf(inner, (each) => jsonActions(each, { toolsPrompt })),
    name,
    maxToolRounds: MAX_TOOL_ROUNDS,
    async complete(messages, { tools = [], onDelta, ...rest } = {}): Promise<Completion> {
      const plain = toActionMessages(messages, tools, toolsPrompt)
      const idPrefix = `call_${messages.length}`
      const stream = onDelta && new ActionStream(onDelta, tools, idPrefix)
      const answer = await inner.complete(plain, { ...rest, ...(stream && { onDelta: (delta) => stream.add(delta) }) })
      const callable = answer.finishReason === 'refusal' ? [] : tools
      const reply = readActions(answer, callable, idPrefix)
      stream?.end(reply.content, reply.toolCalls)
      return { ...answer, ...reply, ...(reply.toolCalls.length > 0 && { finishReason: 'tool_calls' }) }
    },
  })
}

function fromText(ask: TextModel): ModelLike {
  return {
    async complete(messages, { signal } = {}): Promise<Completion> {
      signal?.throwIfAborted()
      const content = await ask(messages, signal)
      return { content, toolCalls: [], usage: { inputTokens: 0, outputTokens: 0 }, finishReason: 'stop' }
    },
  }
}
