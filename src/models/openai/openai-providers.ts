/** The providers that speak OpenAI's API: their base URLs, and which environment variables hold their keys. */
import { readVariable } from '../base-url.ts'

/** A provider that speaks OpenAI's API. */
export interface Provider {
  /** Its name in `Model.provider`, as long as no other base URL is set. */
  name: string
  title: string
  baseURL: string
  keyVariable: string
  /** The header that carries the key. Unset: `Authorization`. */
  keyHeader?: string
  /** It may be asked without a key. */
  keyless?: boolean
  /** Query parameters that are added to the URL of every request. */
  query?: Readonly<Record<string, string>>
  /** The environment variable of the base URL, for a provider whose `baseURL` is empty without it. */
  baseVariable?: string
  /** Reads a base URL from the environment, with its version. */
  baseFromEnv?(): string | undefined
}

export const OPENAI: Provider = {
  name: 'openai',
  title: 'OpenAI',
  baseURL: 'https://api.openai.com/v1',
  keyVariable: 'OPENAI_API_KEY',
  baseFromEnv: () => readVariable('OPENAI_BASE_URL'),
}

/**
 * All providers that are known by name. The name also decides which dialect a provider speaks: see `chatDialect` in
 * `provider-connection.ts`.
 */
export const PROVIDERS: readonly Provider[] = [
  OPENAI,
  {
    name: 'google',
    title: 'Google',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai/',
    keyVariable: 'GEMINI_API_KEY',
  },
  { name: 'deepseek', title: 'DeepSeek', baseURL: 'https://api.deepseek.com', keyVariable: 'DEEPSEEK_API_KEY' },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    baseURL: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
  },
  {
    name: 'ollama',
    title: 'Ollama',
    baseURL: 'http://127.0.0.1:11434/v1',
    keyVariable: 'OLLAMA_API_KEY',
    keyless: true,
    baseFromEnv: () => ollamaBase(readVariable('OLLAMA_HOST')),
  },
  { name: 'groq', title: 'Groq', baseURL: 'https://api.groq.com/openai/v1', keyVariable: 'GROQ_API_KEY' },
  { name: 'mistral', title: 'Mistral', baseURL: 'https://api.mistral.ai/v1', keyVariable: 'MISTRAL_API_KEY' },
]

/** Whether this is a host of OpenAI itself: the global one, or one of a region, e.g. `eu.api.openai.com`. */
export function isOpenAI(host: string): boolean {
  return host === 'api.openai.com' || host.endsWith('.api.openai.com')
}

/** Ollama's own variable may leave out the scheme and the port. */
function ollamaBase(host: string | undefined): string | undefined {
  if (host === undefined) return undefined
  const [, scheme = 'http:', name = '', port = ':11434'] =
    /^(https?:)?(?:\/\/)?([^/:]*|\[[^\]]*\])(:\d+)?\/*$/.exec(host) ?? []
  return name === '' ? host : `${scheme}//${name}${port}/v1`
}
