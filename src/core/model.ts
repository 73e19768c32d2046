/** The interface of a model. Implementations live in `src/models`; user code may bring its own object. */
import type { Message, ProviderData, ToolCall, Usage } from './message.ts'

/** A JSON Schema. */
export type JsonSchema = Record<string, unknown>

/** A tool as a model sees it. */
export interface ToolSpec {
  /** The tool's name. */
  name: string
  /** For people; models read it only in `generateToolsPrompt`. */
  displayName?: string
  /** What it does and when to use it. */
  description: string
  /** The JSON Schema of its arguments; at the top always `type: 'object'`. */
  parameters: JsonSchema
  /** A call changes nothing: the tool's effect is `pure`. */
  readOnly?: boolean
}

/** What a model sends while it is still answering. */
export type ModelDelta =
  | { type: 'text'; text: string }
  /** What it thinks, where its provider shows that. It is no part of the answer. */
  | { type: 'reasoning'; text: string }
  | { type: 'toolCall'; index: number; id?: string; name?: string; arguments: string }

/** What a model is called with beside the messages. */
export interface CompleteOptions {
  /** The tools it may call. Unset = none. */
  tools?: ToolSpec[]
  /** Fires on the user's cancel, on the model time-out and on shutdown. */
  signal?: AbortSignal
  /** Stable over every repetition of this call, over crashes too: for providers that can deduplicate. */
  idempotencyKey?: string
  /** The same for all sessions of a tree: for providers that find cached prompts by a key. */
  cacheKey?: string
  /** Called synchronously for each piece; must not throw. */
  onDelta?: (delta: ModelDelta) => void
  /**
   * Called when the request is sent, and for each sign of life since, such as bytes that are no piece of the answer; must
   * not throw. From the first call on, a silence longer than `idleTimeout` ends the model call. A delta is a sign too.
   */
  onAlive?: () => void
}

/** An answer of a model. */
export interface Completion {
  /** Its text; may be empty beside calls. */
  content: string
  /** The tools it wants to call, in its order. */
  toolCalls: ToolCall[]
  /** Tokens of this call. */
  usage: Usage
  /** Why it stopped: at its end, for its calls, at its token limit, or because it refused. */
  finishReason: 'stop' | 'tool_calls' | 'length' | 'refusal'
  /**
   * The model that answered, when it may differ from the one that was asked: a dated version, or one behind a router.
   * Unset: `name`. It stands in the record, in `message.completed` and in the usage; at most 200 characters of it.
   */
  model?: string
  /**
   * What the provider wants to get back with this answer in every later call, under the provider's name. It is stored in
   * the record, and comes back in `Message.provider`. At most 1 MiB of JSON.
   */
  provider?: ProviderData
}

/** Models of which one answers: the first that can. */
export interface Fallback {
  /** In the order of preference; none of them has a fallback itself. */
  readonly models: readonly Model[]
  /** How long a model must be away before the next one is asked, milliseconds. */
  readonly afterMs: number
}

/**
 * A model answers a conversation. It throws a `StelloError` with a `MODEL_*` code when it knows what went wrong
 * (see `src/models/model-error.ts`); anything else it throws counts as `MODEL_UNAVAILABLE` and is tried again.
 */
export interface Model {
  /** Shown to people: in summaries, in stats. */
  readonly name: string
  /** Who serves it, e.g. `openai` or a host: models of one provider wait together when it is away. Default: `name`. */
  readonly provider?: string
  /** The most tokens that a prompt and its answer may have together. Unset: looked up by the name, if it is known. */
  readonly contextWindow?: number
  /** Tool rounds per turn where neither agent nor profile states them; unset = 5. */
  readonly maxToolRounds?: number
  /** How long one call may take, milliseconds. Unset: `modelTimeout` of profile or agent. */
  readonly timeoutMs?: number
  /** How long it may give nothing in the middle of a call, milliseconds. Unset: `idleTimeout` of profile or agent. */
  readonly idleTimeoutMs?: number
  /** How long it is asked again while it is away, milliseconds. Unset: `retryFor` of profile or agent. */
  readonly retryForMs?: number
  /** Set by `fallback`: the models of which one answers. A session asks them itself, as the weather allows. */
  readonly fallback?: Fallback
  /**
   * Names the variable that holds its key, when it has no key now. `stello worker` warns of it. Unset: it needs none, or
   * nobody can tell.
   */
  missingKey?(): string | undefined
  /**
   * Answers the messages, of which the last is new.
   *
   * @throws StelloError with a `MODEL_*` code
   */
  complete(messages: Message[], options?: CompleteOptions): Promise<Completion>
}

/** A model of user code may do without a name. */
export interface ModelLike {
  /** Shown to people. Default: `model`. */
  readonly name?: string
  /** Who serves it, e.g. `openai` or a host: models of one provider wait together when it is away. Default: `name`. */
  readonly provider?: string
  /** The most tokens that a prompt and its answer may have together. Unset: looked up by the name, if it is known. */
  readonly contextWindow?: number
  /** Tool rounds per turn where neither agent nor profile states them; unset = 5. */
  readonly maxToolRounds?: number
  /** How long one call may take, milliseconds. Unset: `modelTimeout` of profile or agent. */
  readonly timeoutMs?: number
  /** How long it may give nothing in the middle of a call, milliseconds. Unset: `idleTimeout` of profile or agent. */
  readonly idleTimeoutMs?: number
  /** How long it is asked again while it is away, milliseconds. Unset: `retryFor` of profile or agent. */
  readonly retryForMs?: number
  /** Set by `fallback`. */
  readonly fallback?: Fallback
  /** See `Model`. */
  missingKey?(): string | undefined
  /** Answers the messages, see `Model`. */
  complete: Model['complete']
}
