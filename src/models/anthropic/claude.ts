/**
 * Models of Anthropic, by Anthropic's own API. This file never retries. The session does, and its retries survive a
 * crash.
 */
import type Anthropic from '@anthropic-ai/sdk'
import { StelloError } from '../../core/errors.ts'
import type { CompleteOptions, Completion, Model, ModelDelta } from '../../core/model.ts'
import { checkedBaseURL, readVariable, servedBy } from '../base-url.ts'
import { limitedFetch } from '../limited-fetch.ts'
import { loadPackage } from '../load-package.ts'
import { modelWaits } from '../model-waits.ts'
import { messagesBehind, toModelError, type Asked } from '../model-error.ts'
import { keepSecretsOf } from '../secret-headers.ts'
import { readClaudeAnswer, readClaudeStream, type Expected } from './claude-answer.ts'
import type { ClaudeOptions } from './claude-options.ts'
import { maxTokensOf, toClaudeRequest } from './claude-request.ts'
import { noticed } from '../asked-around.ts'

const BASE = 'https://api.anthropic.com'
const KEY_VARIABLE = 'ANTHROPIC_API_KEY'
/** The last version of the API that accepts a temperature. */
const LAST_WITH_TEMPERATURE = '2023-06-01'
/** The longest time that a timer takes. The session has time-outs of its own, so the client needs none. */
const NO_TIMEOUT = 2 ** 31 - 1

/**
 * A model of Anthropic. It needs the package `@anthropic-ai/sdk` and loads it with the first call. The variables of key
 * and base URL, `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`, are read with each call. Thinking is kept in the record
 * and goes back to Anthropic with every later call. The prompt is cached.
 *
 * @param options an option that is left out has the model's own default, except `maxTokens` and `cache`
 * @returns a model. Its `complete` throws StelloError MODEL_AUTH, MODEL_NO_CREDIT, MODEL_RATE_LIMITED,
 *   MODEL_UNAVAILABLE, MODEL_REFUSED_REQUEST, MODEL_CONTEXT_TOO_LONG, MODEL_BAD_ANSWER; an abort rejects with the
 *   signal's reason
 * @throws StelloError INVALID_ARGUMENT without a model name, or for options that contradict each other
 * @example
 * const llm = createClaude({ model: 'claude-sonnet-5', thinking: { type: 'adaptive', display: 'summarized' } })
 */
export function createClaude(options: ClaudeOptions): Model {
  check(options)
  const { model, name = model, contextWindow } = options
  return noticed({
    name,
    ...modelWaits(options, `model ${model}`),
    ...(contextWindow !== undefined && { contextWindow }),
    get provider() {
      return servedBy('anthropic', BASE, elsewhere(options))
    },
    missingKey: () => (keyOf(options) ? undefined : KEY_VARIABLE),
    async complete(messages, asking = {}): Promise<Completion> {
      const { client, asked } = await connect(options, asking.onAlive)
      asking.signal?.throwIfAborted()
      const { body, prompt, from } = toClaudeRequest(options, messages, { tools: asking.tools, host: asked.host })
      asked.behind = (index) => messagesBehind(messages, from[index])
      try {
        const expected = { prompt, host: asked.host, prices: options.prices }
        return await ask(client, { body, expected }, asking)
      } catch (error) {
        asking.signal?.throwIfAborted()
        throw toModelError(error, asked)
      }
    },
  })
}

/** A request, and what its answer is read with. */
interface ClaudeRequest {
  body: Anthropic.MessageCreateParamsNonStreaming
  expected: Expected
}

async function ask(
  client: Anthropic,
  { body, expected }: ClaudeRequest,
  { signal, onDelta, idempotencyKey }: CompleteOptions,
): Promise<Completion> {
  const headers = {
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    ...('temperature' in body && { 'anthropic-version': LAST_WITH_TEMPERATURE }),
  }
  const how = { signal, headers }
  if (!onDelta) return readClaudeAnswer(await client.messages.create(body, how), expected)
  const events = await client.messages.create({ ...body, stream: true }, how)
  const tell = (delta: ModelDelta): void => {
    // Pieces that have arrived already keep coming after an abort.
    signal?.throwIfAborted()
    onDelta(delta)
  }
  return readClaudeStream(events, tell, expected)
}

/** The base URL of the options or the environment; undefined if it is Anthropic's own. */
function elsewhere({ baseURL }: ClaudeOptions): string | undefined {
  return baseURL || readVariable('ANTHROPIC_BASE_URL')
}

/** A server at a base URL of your own often needs no key, but the client does. */
function keyOf(options: ClaudeOptions): string | undefined {
  return options.apiKey || readVariable(KEY_VARIABLE) || (elsewhere(options) ? 'none' : undefined)
}

async function connect(
  options: ClaudeOptions,
  onAlive: CompleteOptions['onAlive'],
): Promise<{ client: Anthropic; asked: Asked }> {
  const { model, headers } = options
  // The client adds `/v1` itself.
  const url = checkedBaseURL(model, (elsewhere(options) ?? BASE).replace(/(\/v1)?\/*$/, ''))
  const key = keyOf(options)
  if (!key) {
    throw new StelloError('MODEL_AUTH', `model ${model}: there is no key for Anthropic`, {
      hint: `set ${KEY_VARIABLE}, restart the worker, then resume the session`,
    })
  }
  const secrets = keepSecretsOf({ authorization: key, ...headers })
  const { Anthropic: Client } = await loadPackage(
    `model ${model}`,
    '@anthropic-ai/sdk',
    () => import('@anthropic-ai/sdk'),
  )
  const client = new Client({
    apiKey: key,
    baseURL: url.href.replace(/\/$/, ''),
    maxRetries: 0,
    timeout: NO_TIMEOUT,
    logLevel: 'off',
    fetch: limitedFetch(onAlive),
    ...(headers && { defaultHeaders: headers }),
  })
  return { client, asked: { model, host: url.host, keyVariable: KEY_VARIABLE, secrets } }
}

function check(options: ClaudeOptions): void {
  const { model, thinking, temperature } = options
  if (typeof model !== 'string' || model === '') {
    throw new StelloError('INVALID_ARGUMENT', 'a model of Anthropic needs its name', { hint: "pass { model: '…' }" })
  }
  const refuse = (message: string, hint: string): never => {
    throw new StelloError('INVALID_ARGUMENT', `model ${model}: ${message}`, { hint })
  }
  if (thinking && thinking.type !== 'disabled' && temperature !== undefined) {
    refuse('temperature cannot be set together with thinking', 'leave one of them out')
  }
  if (thinking?.type !== 'enabled') return
  const { budgetTokens } = thinking
  if (!Number.isInteger(budgetTokens) || budgetTokens < 1024) {
    refuse(`thinking.budgetTokens is ${budgetTokens}`, 'it is a whole number of at least 1024')
  }
  if (budgetTokens >= maxTokensOf(options)) {
    refuse('thinking.budgetTokens is not below maxTokens', 'thinking is part of the answer: raise maxTokens')
  }
}
