/** The pack of tools for the web. They run on any worker. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import type { Model } from '../../core/model.ts'
import type { Tool } from '../../tool/tool.ts'
import { networkGuard } from '../network/network-guard.ts'
import { PageSource } from './page-source.ts'
import type { SearchProvider } from './search-provider.ts'
import { webFetchTool } from './web-fetch.ts'
import { webSearchTool } from './web-search.ts'

/** Options of `web`. */
export interface WebOptions {
  /**
   * Hosts that are read whatever their address is, also by http and on other ports: `host`, or `host:port`. Default: none;
   * only addresses of the public internet are read, on the ports 80 and 443.
   */
  allow?: readonly string[]
  /** Answers the `prompt` of WebFetch; a small one will do. Unset: the page itself is the result. */
  model?: Model
  /** The search providers. If one does not answer, the next is asked. Unset: there is no WebSearch. */
  searchProvider?: SearchProvider | readonly SearchProvider[]
}

/**
 * The tools WebFetch and WebSearch.
 *
 * @throws StelloError INVALID_ARGUMENT when an entry of `allow` is no host
 * @example
 * defineProfile({
 *   id: 'reader', agent: { model: 'anthropic:claude-sonnet-5' },
 *   capabilities: [web({ searchProvider: braveSearch({ apiKey: process.env.BRAVE_API_KEY ?? '' }) })],
 * })
 */
export function web(options: WebOptions = {}): CapabilityPack & { tools: readonly Tool[] } {
  const { allow = [], model, searchProvider = [] } = options
  const providers = [searchProvider].flat()
  const source = new PageSource(networkGuard({ allow, where: 'web' }))
  return {
    name: 'web',
    tools: [webFetchTool({ source, model }), ...(providers.length > 0 ? [webSearchTool(providers)] : [])],
  }
}
