/** Search providers that answer over HTTP with JSON: one request each, with the bounds that WebFetch has too. */
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import { keepSecret } from '../../core/secrets.ts'
import { guardedRequest } from '../network/guarded-request.ts'
import { networkGuard } from '../network/network-guard.ts'
import { NetworkRefusal } from '../network/network-refusal.ts'
import type { SearchProvider, SearchQuery, SearchResult } from './search-provider.ts'

const BRAVE = 'https://api.search.brave.com'
const TIMEOUT_MS = 15_000
const SIZE_LIMIT = 2 * 1024 * 1024

/** Options of `braveSearch`. */
export interface BraveSearchOptions {
  /** The key of Brave's Search API. */
  apiKey: string
  /** Another server that speaks the same API. Default: Brave's. */
  baseUrl?: string
}

/**
 * Brave's Search API.
 *
 * @throws StelloError INVALID_ARGUMENT without a key, or when `baseUrl` is no URL
 * @example web({ searchProvider: braveSearch({ apiKey: process.env.BRAVE_API_KEY ?? '' }) })
 */
export function braveSearch({ apiKey, baseUrl = BRAVE }: BraveSearchOptions): SearchProvider {
  if (!apiKey) throw new StelloError('INVALID_ARGUMENT', 'braveSearch: apiKey is empty', { hint: 'set the key' })
  keepSecret(apiKey)
  return httpSearch({
    name: 'brave',
    url: endpoint('braveSearch', baseUrl, 'res/v1/web/search?count=20'),
    headers: { 'x-subscription-token': apiKey },
    results: (answer) => listIn(inside(answer, 'web'), 'results'),
    snippet: 'description',
  })
}

/** Options of `searxngSearch`. */
export interface SearxngSearchOptions {
  /** The URL of the instance, whose settings must allow the format `json`. */
  baseUrl: string
}

/**
 * An instance of SearXNG of your own.
 *
 * @throws StelloError INVALID_ARGUMENT when `baseUrl` is no URL
 * @example web({ searchProvider: searxngSearch({ baseUrl: 'http://searxng:8080' }) })
 */
export function searxngSearch({ baseUrl }: SearxngSearchOptions): SearchProvider {
  return httpSearch({
    name: 'searxng',
    url: endpoint('searxngSearch', baseUrl, 'search?format=json'),
    headers: {},
    results: (answer) => listIn(answer, 'results'),
    snippet: 'content',
  })
}

interface HttpSearch {
  name: string
  /** Lacks only the query. */
  url: URL
  headers: Record<string, string>
  results(answer: unknown): unknown[]
  /** The field of a result that holds the snippet. */
  snippet: string
}

function httpSearch({ name, url, headers, results, snippet }: HttpSearch): SearchProvider {
  // The author has named this host, so it may be one of the own network.
  const guard = networkGuard({ where: name, allow: [url.host] })
  return {
    name,
    async search(query, { signal }) {
      const asked = new URL(url)
      asked.searchParams.set('q', withSites(query))
      const { status, statusText, body } = await guardedRequest(guard, asked, {
        timeoutMs: TIMEOUT_MS,
        sizeLimit: SIZE_LIMIT,
        signal,
        headers: { accept: 'application/json', ...headers },
      })
      if (status !== 200) throw new NetworkRefusal('network_error', `it answered ${status} ${statusText}`)
      return results(JSON.parse(body.toString()))
        .filter(isObject)
        .map((found) => toResult(found, snippet))
    },
  }
}

/** Most engines know the operator `site:`. */
function withSites({ query, allowedDomains = [] }: SearchQuery): string {
  return allowedDomains.length === 0
    ? query
    : `${query} ${allowedDomains.map((domain) => `site:${domain}`).join(' OR ')}`
}

function toResult(found: Record<string, unknown>, snippet: string): SearchResult {
  return { title: textOf(found['title']), url: textOf(found['url']), snippet: textOf(found[snippet]) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function inside(value: unknown, field: string): unknown {
  return isObject(value) ? value[field] : undefined
}

function listIn(value: unknown, field: string): unknown[] {
  const found = inside(value, field)
  return Array.isArray(found) ? found : []
}

/** @param path below the base, with its query */
function endpoint(where: string, baseUrl: string, path: string): URL {
  if (!URL.canParse(baseUrl)) {
    throw new StelloError('INVALID_ARGUMENT', `${where}: baseUrl is no URL`, {
      hint: "give one: 'https://search.example.com'",
    })
  }
  return new URL(path, baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
}
