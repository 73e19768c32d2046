/** Models behind an OpenAI-compatible endpoint. Never retries by itself: the session does, and survives a crash meanwhile. */
import OpenAI, { type APIError } from 'openai'
import { StelloError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { CompleteOptions, Completion, Model, ModelDelta } from '../../core/model.ts'
import { keepSecret } from '../../core/secrets.ts'
import { readAnswer, readStream, type Prices } from './chat-answer.ts'
import { toChatMessages, toChatTools } from './chat-messages.ts'
import { toModelError, type Asked } from '../model-error.ts'
import { limitedFetch } from '../limited-fetch.ts'

/** Which model to call, where and how. */
export interface OpenAIOptions {
  /** The provider's name of the model. */
  model: string
  /** Default: `OPENAI_BASE_URL`, else OpenAI. Read when the model is called, as is the key. */
  baseURL?: string
  /** Default: `OPENAI_API_KEY`; with a base URL of your own it may be missing. */
  apiKey?: string
  /** Shown to people. Default: `model`. */
  name?: string
  /** 0 to 2. Default: the provider's. */
  temperature?: number
  /** Limit of one answer, in tokens. */
  maxTokens?: number
  /**
   * HTTP headers of each request. Their values are cut from errors. Values of `authorization`, `…-key` and the like are
   * cut from everything the worker tells.
   */
  headers?: Record<string, string>
  /** For `usage.costUsd`: US dollars per million tokens. */
  prices?: Prices
}

interface Provider {
  title: string
  baseURL: string
  keyVariable: string
  /** A base URL from the environment, complete with its version. */
  baseFromEnv(): string | undefined
}

const OPENAI: Provider = {
  title: 'OpenAI',
  baseURL: 'https://api.openai.com/v1',
  keyVariable: 'OPENAI_API_KEY',
  baseFromEnv: () => readVariable('OPENAI_BASE_URL'),
}

const ANTHROPIC: Provider = {
  title: 'Anthropic',
  baseURL: 'https://api.anthropic.com/v1/',
  keyVariable: 'ANTHROPIC_API_KEY',
  // Anthropic's own tools take this variable without the version.
  baseFromEnv: () => readVariable('ANTHROPIC_BASE_URL')?.replace(/(\/v1)?\/*$/, '/v1/'),
}

/**
 * A model of OpenAI, or of any server that speaks its chat completions: set `baseURL` or `OPENAI_BASE_URL`. It needs no
 * key before it is called, so an agent module loads anywhere.
 *
 * @param options `temperature` and `maxTokens` are the provider's own defaults when left out
 * @returns its `complete` throws StelloError MODEL_AUTH, MODEL_RATE_LIMITED, MODEL_UNAVAILABLE, MODEL_REFUSED_REQUEST,
 *   MODEL_CONTEXT_TOO_LONG, MODEL_BAD_ANSWER; an abort rejects with the signal's reason
 * @throws StelloError INVALID_ARGUMENT without a model name
 * @example
 * const llm = openai({ model: 'gpt-5-mini' })
 * const local = openai({ model: 'qwen3', baseURL: 'http://127.0.0.1:11434/v1' })
 */
export function openai(options: OpenAIOptions): Model {
  return modelAt(OPENAI, options)
}

/**
 * A model of Anthropic, through its OpenAI-compatible endpoint. Key and base URL: `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`.
 *
 * @param options as for `openai`
 * @returns throws like `openai`'s
 * @throws StelloError INVALID_ARGUMENT without a model name
 * @example
 * const llm = createClaude({ model: 'claude-sonnet-4-5' })
 */
export function createClaude(options: OpenAIOptions): Model {
  return modelAt(ANTHROPIC, options)
}

function modelAt(provider: Provider, options: OpenAIOptions): Model {
  const { model, name = model, prices } = options
  if (typeof model !== 'string' || model === '') {
    throw new StelloError('INVALID_ARGUMENT', `a model of ${provider.title} needs its name`, {
      hint: "pass { model: '…' }",
    })
  }
  return {
    name,
    async complete(messages, { tools, signal, onDelta, idempotencyKey } = {}): Promise<Completion> {
      const { client, asked } = connect(provider, options)
      // The client's own option `idempotencyKey` sends nothing.
      const named = idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }
      const params = toParams(options, asked.host, messages, tools)
      try {
        if (!onDelta) return readAnswer(await client.chat.completions.create(params, { signal, ...named }), prices)
        const stream = await client.chat.completions.create(
          { ...params, stream: true, stream_options: { include_usage: true } },
          { signal, ...named },
        )
        const tell = (delta: ModelDelta): void => {
          // Pieces that have arrived already keep coming after an abort.
          signal?.throwIfAborted()
          onDelta(delta)
        }
        return await readStream(stream, tell, prices)
      } catch (error) {
        signal?.throwIfAborted()
        throw toModelError(error, asked)
      }
    },
  }
}

function connect(
  provider: Provider,
  { model, apiKey, baseURL, headers }: OpenAIOptions,
): { client: OpenAI; asked: Asked } {
  const { keyVariable } = provider
  const elsewhere = baseURL || provider.baseFromEnv()
  const base = elsewhere ?? provider.baseURL
  if (!URL.canParse(base)) {
    throw new StelloError('MODEL_REFUSED_REQUEST', `model ${model}: the base URL is not a URL`, {
      hint: 'it looks like https://host/v1',
    })
  }
  const url = new URL(base)
  if (url.username || url.password) {
    throw new StelloError(
      'MODEL_REFUSED_REQUEST',
      `model ${model}: the base URL of ${url.host} holds a user or password`,
      {
        hint: "take it out; give a key by apiKey, or { headers: { authorization: 'Basic …' } }",
      },
    )
  }
  // Your own server often needs no key, but the client does.
  const key = apiKey || readVariable(keyVariable) || (elsewhere && 'none')
  if (!key) {
    throw new StelloError('MODEL_AUTH', `model ${model}: there is no key for ${provider.title}`, {
      hint: `set ${keyVariable}, restart the worker, then resume the session`,
    })
  }
  const secrets = keepSecretsOf({ authorization: key, ...headers })
  const client = new Client({
    apiKey: key,
    baseURL: base,
    maxRetries: 0,
    logLevel: 'off',
    fetch: limitedFetch(model),
    ...(headers && { defaultHeaders: headers }),
    ...(provider !== OPENAI && { organization: null, project: null }),
  })
  return { client, asked: { model, host: url.host, keyVariable, secrets } }
}

/**
 * The worker never tells the values of these headers. Values of other headers are cut only from the model's errors,
 * because they may be plain words.
 */
const SECRET_HEADER = /auth|cookie|key|pass|secret|token/i

/** @returns the texts to cut from the model's errors */
function keepSecretsOf(headers: Record<string, string>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!SECRET_HEADER.test(name)) return [value]
    // An error may quote the TOKEN of `Bearer TOKEN` or of `name=TOKEN; name=TOKEN` alone.
    const parts = value.split(/[\s;,]+/).flatMap((part) => [part, part.replace(/^[\w.-]+=/, '')])
    keepSecret(value, ...parts)
    return [value, ...parts]
  })
}

function readVariable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined
}

/** Some servers send their error as the whole body; the client looks for it one level deeper. */
class Client extends OpenAI {
  protected override makeStatusError(
    status: number,
    body: object,
    message: string | undefined,
    headers: Headers,
  ): APIError {
    const bare = typeof body === 'object' && body !== null && !('error' in body)
    return super.makeStatusError(status, bare ? { error: body } : body, message, headers)
  }
}

function toParams(
  { model, temperature, maxTokens }: OpenAIOptions,
  host: string,
  messages: readonly Message[],
  tools: CompleteOptions['tools'] = [],
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return {
    model,
    messages: toChatMessages(messages),
    ...(tools.length > 0 && { tools: toChatTools(tools) }),
    ...(temperature !== undefined && { temperature }),
    // OpenAI's newer models refuse the old name; other servers know only the old one.
    ...(maxTokens !== undefined &&
      (host === 'api.openai.com' ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens })),
  }
}
