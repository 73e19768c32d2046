/** The providers that speak OpenAI's API: where they are, and which variable has the key. */
import { readVariable } from '../base-url.ts'

/** A provider that speaks OpenAI's API. */
export interface Provider {
  /** Its name in `Model.provider`, for as long as no other base URL is set. */
  name: string
  title: string
  baseURL: string
  keyVariable: string
  /** The header of the key. Unset: `Authorization`. */
  keyHeader?: string
  /** It may be asked without a key. */
  keyless?: boolean
  /** Goes with every address. */
  query?: Readonly<Record<string, string>>
  /** The variable that has the address of a provider whose `baseURL` is empty without it. */
  baseVariable?: string
  /** A base URL from the environment, complete with its version. */
  baseFromEnv?(): string | undefined
}

export const OPENAI: Provider = {
  name: 'openai',
  title: 'OpenAI',
  baseURL: 'https://api.openai.com/v1',
  keyVariable: 'OPENAI_API_KEY',
  baseFromEnv: () => readVariable('OPENAI_BASE_URL'),
}

/** All that are known by name. Which dialect a provider speaks goes by its name: see `chat-dialect.ts`. */
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

/** OpenAI itself: its API for the world, and those of its regions, e.g. `eu.api.openai.com`. */
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
