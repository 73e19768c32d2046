/** WebSearch: results of the first provider that answers, filtered here, whatever the provider did about the filters. */
import { z } from 'zod'
import { messageOf } from '../../core/errors.ts'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import { untrusted } from '../html/untrusted.ts'
import { hostOf } from '../network/allowed-hosts.ts'
import { NetworkRefusal, reaching } from '../network/network-refusal.ts'
import type { SearchProvider, SearchQuery, SearchResult } from './search-provider.ts'

const domains = z.array(z.string().min(1).max(253)).max(50)
const schema = z.object({
  query: z.string().min(2).max(500),
  allowed_domains: domains.optional().describe('Only results of these domains'),
  blocked_domains: domains.optional().describe('No results of these domains; not together with allowed_domains'),
})

const RESULTS = 10
const TIMEOUT_MS = 15_000
const TITLE = 200
const SNIPPET = 500

export function webSearchTool(providers: readonly SearchProvider[]): Tool {
  return createTool({
    name: 'WebSearch',
    kind: 'readonly',
    effect: 'pure',
    description: {
      short: 'Searches the web.',
      usageNotes: [`Gives at most ${RESULTS} results with title, URL and snippet; read a result with WebFetch`],
    },
    schema,
    validate({ allowed_domains, blocked_domains }) {
      const both = allowed_domains !== undefined && blocked_domains !== undefined
      return { valid: !both, reason: 'Give allowed_domains or blocked_domains, not both.' }
    },
    execute: ({ query, allowed_domains: allowedDomains, blocked_domains: blockedDomains }, ctx) =>
      reaching(async () => {
        const asked = { query, ...(allowedDomains && { allowedDomains }), ...(blockedDomains && { blockedDomains }) }
        return shown(asked, await search(providers, asked, ctx))
      }),
  })
}

async function search(
  providers: readonly SearchProvider[],
  query: SearchQuery,
  { signal }: ToolContext,
): Promise<readonly SearchResult[]> {
  const problems: string[] = []
  for (const provider of providers) {
    try {
      return await inTime(provider, query, signal)
    } catch (error) {
      signal.throwIfAborted()
      problems.push(`${provider.name}: ${messageOf(error)}`)
    }
  }
  throw new NetworkRefusal('network_error', `No search provider has answered. ${problems.join('; ')}`)
}

/** A provider may ignore its signal. */
async function inTime(
  provider: SearchProvider,
  query: SearchQuery,
  call: AbortSignal,
): Promise<readonly SearchResult[]> {
  const signal = AbortSignal.any([call, AbortSignal.timeout(TIMEOUT_MS)])
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)))
  })
  return Promise.race([late, provider.search(query, { signal })])
}

function shown(query: SearchQuery, found: readonly SearchResult[]): string {
  const results = found.filter((result) => isWanted(result, query)).slice(0, RESULTS)
  if (results.length === 0) return 'No results found.'
  const lines = results.map(({ title, url, snippet }, index) =>
    [`${index + 1}. ${oneLine(title, TITLE)}`, `   ${url}`, `   ${oneLine(snippet, SNIPPET)}`].join('\n'),
  )
  return untrusted('web search', lines.join('\n'))
}

export function isWanted({ url }: SearchResult, { allowedDomains, blockedDomains = [] }: SearchQuery): boolean {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return false
  const host = hostOf(new URL(url).hostname)
  const isOf = (domain: string): boolean => {
    const name = domain.toLowerCase().replace(/^\*?\./, '')
    return host === name || host.endsWith(`.${name}`)
  }
  return (allowedDomains ?? [host]).some(isOf) && !blockedDomains.some(isOf)
}

/** Engines mark the words that were found with tags. */
function oneLine(text: string, limit: number): string {
  return text
    .replaceAll(/<\/?\w[^>]{0,100}>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, limit)
}
