/** Where a model is asked, and with which key. Read anew for each call: an agent module loads without any key. */
import OpenAI, { type APIError } from 'openai'
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import { checkedBaseURL, readVariable, servedBy as whoServes } from '../base-url.ts'
import { limitedFetch } from '../limited-fetch.ts'
import type { Asked } from '../model-error.ts'
import { keepSecretsOf } from '../secret-headers.ts'
import { chatDialect } from './chat-dialect.ts'
import type { OpenAIOptions } from './openai-options.ts'

/** A provider that speaks OpenAI's API. */
export interface Provider {
  /** Its name in `Model.provider`, for as long as no other base URL is set. */
  name: string
  title: string
  baseURL: string
  keyVariable: string
  /** A base URL from the environment, complete with its version. */
  baseFromEnv(): string | undefined
}

/** A client of one provider, and what its errors are told with. */
export interface Connection {
  client: OpenAI
  asked: Asked
  /** Whose rules hold there: see `chat-dialect.ts`. */
  dialect: string
}

export const OPENAI: Provider = {
  name: 'openai',
  title: 'OpenAI',
  baseURL: 'https://api.openai.com/v1',
  keyVariable: 'OPENAI_API_KEY',
  baseFromEnv: () => readVariable('OPENAI_BASE_URL'),
}

/** Who serves the model: the provider, or the host of another base URL. */
export function servedBy(provider: Provider, { baseURL }: OpenAIOptions): string {
  return whoServes(provider.name, provider.baseURL, baseURL || provider.baseFromEnv())
}

/**
 * @param onAlive called when the request is sent, and for each chunk of the answer's bytes
 * @throws StelloError MODEL_REFUSED_REQUEST for a base URL that is none, MODEL_AUTH without a key
 */
export function connect(
  provider: Provider,
  { model, apiKey, baseURL, headers }: OpenAIOptions,
  onAlive?: () => void,
): Connection {
  const { keyVariable } = provider
  const elsewhere = baseURL || provider.baseFromEnv()
  const base = elsewhere ?? provider.baseURL
  const url = checkedBaseURL(model, base)
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
    fetch: limitedFetch(model, onAlive),
    ...(headers && { defaultHeaders: headers }),
  })
  const { host } = url
  return { client, asked: { model, host, keyVariable, secrets }, dialect: chatDialect(provider.name, host) }
}

/** Some servers send their error as the whole body, or in a list; the client looks for it one level deeper. */
class Client extends OpenAI {
  protected override makeStatusError(
    status: number,
    body: object,
    message: string | undefined,
    headers: Headers,
  ): APIError {
    const told: unknown = Array.isArray(body) ? body[0] : body
    const bare = isObject(told) && !('error' in told)
    return super.makeStatusError(status, bare ? { error: told } : Object(told), message, headers)
  }
}
