/** Models of Azure OpenAI: OpenAI's API at your own Azure resource, with other URLs and another header for the key. */
import { StelloError } from '../../core/errors.ts'
import type { Model } from '../../core/model.ts'
import { readVariable } from '../base-url.ts'
import type { OpenAIOptions } from './openai-options.ts'
import type { Provider } from './openai-providers.ts'
import { modelAt } from './openai.ts'

/** Which deployment to call, where and how. */
export interface AzureOptions extends Omit<OpenAIOptions, 'baseURL' | 'organization' | 'project'> {
  /** The name of the deployment. */
  model: string
  /** The resource, e.g. `https://mine.openai.azure.com`. Default: `AZURE_OPENAI_ENDPOINT`. */
  endpoint?: string
  /** Default: `AZURE_OPENAI_API_KEY`. Not needed if `headers` hold an `authorization` of Entra ID. */
  apiKey?: string
  /**
   * A version of the older API, e.g. `2024-10-21`. The deployment is then part of the path. Default:
   * `OPENAI_API_VERSION`. If neither is set, the v1 API is used, which has no versions.
   */
  apiVersion?: string
  /** Default: `chat` (chat completions) with an `apiVersion`, else `responses`. */
  api?: 'responses' | 'chat'
}

/**
 * A model of Azure OpenAI. Endpoint, key and version may come from the environment. Endpoint and key are read when the
 * model is called, the version when the model is made.
 *
 * @param options as for `openai`, with the resource's `endpoint` instead of a base URL
 * @returns a model. Its `complete` throws the same errors as that of `openai`
 * @throws StelloError INVALID_ARGUMENT naming the option
 * @example
 * const llm = azure({ model: 'my-deployment', endpoint: 'https://mine.openai.azure.com' })
 */
export function azure(options: AzureOptions): Model {
  const { endpoint, apiVersion = readVariable('OPENAI_API_VERSION'), ...rest } = options
  for (const [name, value] of Object.entries({ endpoint, apiVersion })) {
    if (value === undefined || (typeof value === 'string' && value !== '')) continue
    throw new StelloError('INVALID_ARGUMENT', `model ${options.model} of Azure OpenAI: ${name} must be text`)
  }
  const path = apiVersion === undefined ? 'openai/v1' : `openai/deployments/${encodeURIComponent(options.model)}`
  const provider: Provider = {
    name: 'azure',
    title: 'Azure OpenAI',
    // Read when the model is called. Empty if there is no endpoint.
    get baseURL() {
      const resource = endpoint ?? readVariable('AZURE_OPENAI_ENDPOINT')
      return resource === undefined ? '' : `${resource.replace(/\/+$/, '')}/${path}`
    },
    baseVariable: 'AZURE_OPENAI_ENDPOINT',
    keyVariable: 'AZURE_OPENAI_API_KEY',
    keyHeader: 'api-key',
    keyless: Object.keys(rest.headers ?? {}).some((name) => /^(authorization|api-key)$/i.test(name)),
    ...(apiVersion !== undefined && { query: { 'api-version': apiVersion } }),
  }
  return modelAt(provider, { ...rest, api: rest.api ?? (apiVersion === undefined ? 'responses' : 'chat') })
}
