/**
 * The base URL and the key of a model, and a client with them. They are read again for each call, so an agent module
 * loads without any key.
 */
import OpenAI, { type APIError } from 'openai'
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import { checkedBaseURL, readVariable, servedBy as whoServes } from '../base-url.ts'
import { limitedFetch } from '../limited-fetch.ts'
import type { Asked } from '../model-error.ts'
import { keepSecretsOf } from '../secret-headers.ts'
import type { OpenAIOptions } from './openai-options.ts'
import { isOpenAI, OPENAI, type Provider } from './openai-providers.ts'

/** A client of one provider, and what its errors need. */
export interface Connection {
  client: OpenAI
  asked: Asked
  /** Which provider's rules apply to chat completions there: see `chatDialect`. */
  dialect: string
  /** The server is OpenAI itself. */
  official: boolean
  api: 'responses' | 'chat'
}

/** Who serves the model: the provider, or the host of a base URL that is not the provider's own. */
export function servedBy(provider: Provider, options: OpenAIOptions): string {
  return whoServes(provider.name, provider.baseURL, elsewhere(provider, options))
}

/** The base URL of the options or the environment; undefined if it is the provider's own. */
function elsewhere(provider: Provider, { baseURL }: OpenAIOptions): string | undefined {
  return baseURL || provider.baseFromEnv?.()
}

/** The environment variable of the key, if there is no key and the provider wants one. */
export function missingKey(provider: Provider, options: OpenAIOptions): string | undefined {
  return keyOf(provider, options) ? undefined : provider.keyVariable
}

/** A server at a base URL of your own often needs no key, but the client does. */
function keyOf(provider: Provider, options: OpenAIOptions): string | undefined {
  const needsNone = elsewhere(provider, options) || provider.keyless
  return options.apiKey || readVariable(provider.keyVariable) || (needsNone ? NO_KEY : undefined)
}

/** The client wants a key even if the server wants none. */
const NO_KEY = 'none'
/** The longest time that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1
/** Hosts of providers that have a dialect. */
const HOSTS: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)googleapis\.com$/, 'google'],
  [/(^|\.)deepseek\.com$/, 'deepseek'],
  [/(^|\.)mistral\.ai$/, 'mistral'],
]

/**
 * @param onAlive called when the request is sent, and for each chunk of the answer's bytes
 * @throws StelloError MODEL_REFUSED_REQUEST for a base URL that is missing or wrong, MODEL_AUTH without a key
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
    // If a value is undefined, the client reads OpenAI's environment variable.
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

/**
 * Which provider's rules apply to a server that speaks chat completions. A provider that is not `openai` keeps
 * its name, also with another base URL. For `openai`, the host decides: it is the name of the provider that owns the
 * host, or else the host itself. What a provider wants back is kept under this name.
 *
 * @example chatDialect('openai', 'api.deepseek.com') // 'deepseek'
 */
function chatDialect(provider: string, host: string): string {
  if (provider !== 'openai') return provider
  const known = HOSTS.find(([pattern]) => pattern.test(host.replace(/:\d+$/, '')))
  return known?.[1] ?? host
}

/** Some servers send their error as the whole body, or in a list. OpenAI's client looks only for a field `error`. */
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
