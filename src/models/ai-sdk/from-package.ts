/** Models of the AI SDK by the names of their packages: `@ai-sdk/mistral` makes `mistral:mistral-large-latest`. */
import { createRequire } from 'node:module'
import { StelloError } from '../../core/errors.ts'
import type { Model } from '../../core/model.ts'
import { loadPackage } from '../load-package.ts'
import { aiSdk } from './ai-sdk.ts'
import type { AiSdkModel } from './language-model.ts'
import { noticed } from '../asked-around.ts'

/** Which names a provider may have: the name becomes part of a package's name. */
const PROVIDER = /^[a-z0-9][a-z0-9-]*$/

/**
 * The model of a provider whose package is installed. The package is loaded with the first call.
 *
 * @returns undefined when no package of that provider is installed
 */
export function fromPackage(provider: string, modelId: string): Model | undefined {
  const name = `@ai-sdk/${provider}`
  if (!PROVIDER.test(provider) || !isInstalled(name)) return undefined
  return noticed({
    name: modelId,
    provider,
    async complete(messages, options) {
      const what = `model ${modelId}`
      const loaded: object = await loadPackage(what, name, () => import(name) as Promise<object>)
      const make = Object.values(loaded).find(isProvider)
      if (make) return aiSdk(make.languageModel(modelId)).complete(messages, options)
      throw new StelloError('MODEL_REFUSED_REQUEST', `${what}: the package ${name} exports no provider`, {
        hint: `make the model in the agent's file: aiSdk(…)`,
      })
    },
  })
}

/** Whether this is a provider that reads its settings from the environment, such as `mistral` of `@ai-sdk/mistral`. */
function isProvider(value: unknown): value is { languageModel(id: string): AiSdkModel } {
  return typeof value === 'function' && 'languageModel' in value && typeof value.languageModel === 'function'
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`)
    return true
  } catch {
    return false
  }
}
