/** Models by name, for settings that are text. */
import { StelloError } from '../core/errors.ts'
import type { Model } from '../core/model.ts'
import { fromPackage } from './ai-sdk/from-package.ts'
import { createClaude } from './anthropic/claude.ts'
import { modelAt } from './openai/openai.ts'
import { PROVIDERS as OPENAI_LIKE } from './openai/openai-providers.ts'

const PROVIDERS: Readonly<Record<string, (model: string) => Model>> = {
  ...Object.fromEntries(OPENAI_LIKE.map((row) => [row.name, (model: string) => modelAt(row, { model })])),
  anthropic: (model) => createClaude({ model }),
}

/**
 * The model that a name such as `provider:model` stands for. The text after the first colon is the provider's name for
 * the model. Each provider has its own environment variable for the key. It is read when the model is called. A
 * provider that is not known here is taken from the AI SDK, if its package `@ai-sdk/…` is installed.
 *
 * @param name `openai:`, `anthropic:`, `google:`, `deepseek:`, `openrouter:`, `ollama:`, `groq:` or `mistral:`, and the
 *   model
 * @throws StelloError INVALID_ARGUMENT listing the known providers
 * @example modelFromName('anthropic:claude-sonnet-5')
 */
export function modelFromName(name: string): Model {
  const colon = name.indexOf(':')
  const provider = name.slice(0, Math.max(colon, 0))
  const model = name.slice(colon + 1)
  const make = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : fromPackage.bind(undefined, provider)
  const made = model === '' ? undefined : make?.(model)
  if (made) return made
  const known = Object.keys(PROVIDERS).join(', ')
  throw new StelloError('INVALID_ARGUMENT', `"${name}" names no model`, {
    hint: `write provider:model; the providers are ${known}, and those of the AI SDK whose package @ai-sdk/… is installed`,
  })
}
