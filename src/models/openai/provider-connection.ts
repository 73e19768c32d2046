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
import { isOpenAI, OPENAI, type Provider } from './openai-providers.ts'

/** A client of one provider, and what its errors are told with. */
export interface Connection {
  client: OpenAI
  asked: Asked
  /** Whose rules hold there in chat completions: see `chat-dialect.ts`. */
  dialect: string
  /** It is OpenAI itself. */
  official: boolean
  api: 'responses' | 'chat'
}

/** Who serves the model: the provider, or the host of another base URL. */
export function servedBy(provider: Provider, options: OpenAIOptions): string {
  return whoServes(provider.name, provider.baseURL, elsewhere(provider, options))
}

/** The base URL that somebody has stated; undefined: the provider's own. */
function elsewhere(provider: Provider, { baseURL }: OpenAIOptions): string | undefined {
  return baseURL || provider.baseFromEnv?.()
}

/** The variable of the key, when there is no key and the provider wants one. */
export function missingKey(provider: Provider, options: OpenAIOptions): string | undefined {
  return keyOf(provider, options) ? undefined : provider.keyVariable
}

/** Your own server often needs no key, but the client does. */
function keyOf(provider: Provider, options: OpenAIOptions): string | undefined {
  const needsNone = elsewhere(provider, options) || provider.keyless
  return options.apiKey || readVariable(provider.keyVariable) || (needsNone ? NO_KEY : undefined)
}

/** The client wants a key also where the server wants none. */
const NO_KEY = 'none'
/** The longest time of a timer. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * @param onAlive called when the request is sent, and for each chunk of the answer's bytes
 * @throws StelloError MODEL_REFUSED_REQUEST for a base URL that is none, MODEL_AUTH without a key
 */
export function connect(provider: Provider, options: OpenAIOptions, onAlive?: () => void): Connection {
  const { keyVariable, keyHeader, query } = provider
  const { model, headers, organization, project, api } = options
  const base = elsewhere(provider, options) ?? provider.baseURL
  if (base === '') {
    throw new StelloError('MODEL_REFUSED_REQUEST', `model ${model}: there is no address for ${provider.title}`, {
      hint: `set ${provider.baseVariable}, restart the worker, then resume the session`,
    })
  }
  const url = checkedBaseURL(model, base)
  const key = keyOf(provider, options)
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
    fetch: limitedFetch(onAlive),
    defaultHeaders: {
      ...(keyHeader !== undefined && { authorization: null, ...(key !== NO_KEY && { [keyHeader]: key }) }),
      ...headers,
    },
    ...(query && { defaultQuery: { ...query } }),
    // The client's own limit would end a long wait that the session allows.
    timeout: LONGEST_MS,
    // The client reads variables of OpenAI for what is undefined.
    organization: organization ?? (provider === OPENAI ? undefined : null),
    project: project ?? (provider === OPENAI ? undefined : null),
  })
  const { host } = url
  const official = provider === OPENAI && isOpenAI(host)
  return {
    client,
    asked: { model, host, keyVariable, secrets },
    dialect: chatDialect(provider.name, host),
    official,
    api: api ?? (official ? 'responses' : 'chat'),
  }
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
