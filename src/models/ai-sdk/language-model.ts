/**
 * The parts of a `LanguageModel` of the Vercel AI SDK that are used here. The types are our own, so that those of `ai`
 * 5, 6 and 7 (specifications `v2`, `v3`, `v4`) all fit, and no package of the AI SDK needs to be installed.
 */

/** A model of any provider of the AI SDK, e.g. `anthropic('claude-sonnet-5')` of `@ai-sdk/anthropic`. */
export interface AiSdkModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string
  /** Who serves it, e.g. `anthropic.messages`. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly modelId: string
  /** Returns the whole answer at once. */
  doGenerate(options: never): PromiseLike<unknown>
  /** Returns the answer in pieces. */
  doStream(options: never): PromiseLike<unknown>
}

/** A provider's data about a part, under the provider's key. It comes as metadata and goes back as options. */
export type Metadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>

interface WithOptions {
  providerOptions?: Metadata
}

export type TextPart = WithOptions & { type: 'text'; text: string }
/** In `v4`, `data` is an object that holds the text. */
export type FilePart = WithOptions & { type: 'file'; mediaType: string; data: string | { type: 'data'; data: string } }
export type ReasoningPart = WithOptions & { type: 'reasoning'; text: string }
/** What only the provider understands (`v4`). */
export type CustomPart = WithOptions & { type: 'custom'; kind: string }
export type CallPart = WithOptions & { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown }
export interface ResultPart {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: { type: 'text' | 'error-text'; value: string }
}
export type AssistantPart = TextPart | ReasoningPart | CustomPart | CallPart

export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: (TextPart | FilePart)[] }
  | { role: 'assistant'; content: AssistantPart[] }
  | { role: 'tool'; content: ResultPart[] }

export interface CallOptions {
  prompt: PromptMessage[]
  maxOutputTokens?: number
  temperature?: number
  tools?: { type: 'function'; name: string; description: string; inputSchema: unknown }[]
  toolChoice?: { type: 'auto' }
  providerOptions?: Metadata
  headers?: Record<string, string>
  abortSignal?: AbortSignal
}

/** A part of an answer. */
export interface ContentPart {
  type: string
  text?: string
  kind?: string
  toolCallId?: string
  toolName?: string
  input?: unknown
  providerExecuted?: boolean
  providerMetadata?: Metadata
}

/** In `v2`, a plain string. */
export type FinishReason = string | { unified: string; raw?: string | undefined }

/** In `v2`, plain numbers. */
export interface TokenUsage {
  inputTokens?: number | { total?: number; cacheRead?: number; cacheWrite?: number }
  outputTokens?: number | { total?: number }
  cachedInputTokens?: number
}

export interface Generated {
  content: ContentPart[]
  finishReason: FinishReason
  usage: TokenUsage
  response?: { modelId?: string }
}

/** A piece of an answer. */
export interface StreamPart extends ContentPart {
  id?: string
  delta?: string
  modelId?: string
  finishReason?: FinishReason
  usage?: TokenUsage
  error?: unknown
}

/** The methods that this project calls on a model of the AI SDK. */
export interface Callable {
  doGenerate(options: CallOptions): PromiseLike<Generated>
  doStream(options: CallOptions): PromiseLike<{ stream: ReadableStream<StreamPart> }>
}
