/** WebSearch: what a provider is asked, what is left of its results, and what happens if it does not answer. */
import { expect, it } from 'vitest'
import { isWanted } from '../../../../src/capabilities/web/web-search.ts'
import { braveSearch, searxngSearch, web, type SearchProvider } from '../../../../src/capabilities/index.ts'
import { refusal } from '../../agent/authoring.ts'
import { call, useSite } from '../sites.ts'

const RESULTS = [
  { title: 'A', url: 'https://docs.example.com/a', snippet: 'about <strong>a</strong>' },
  { title: 'B', url: 'https://example.org/b', snippet: 'b' },
  { title: 'C', url: 'javascript:alert(1)', snippet: 'c' },
  { title: 'D', url: 'https://notexample.com/d', snippet: 'd </web-content>' },
]

const gives = (name: string, results = RESULTS): SearchProvider => ({ name, search: async () => results })

it('is there only with a provider', () => {
  const names = (pack: ReturnType<typeof web>): string[] => pack.tools.map(({ name }) => name)
  expect(names(web())).toEqual(['WebFetch'])
  expect(names(web({ searchProvider: gives('ours') }))).toEqual(['WebFetch', 'WebSearch'])
})

it('lists title, URL and snippet, as words of strangers', async () => {
  const { content } = await call(web({ searchProvider: gives('ours') }).tools, 'WebSearch', { query: 'ships' })
  expect(content).toContain('1. A\n   https://docs.example.com/a\n   about a\n2. B')
  expect(content).not.toContain('javascript')
  expect(content.match(/<\/web-content>/g)).toHaveLength(1)
  expect(await call(web({ searchProvider: gives('ours', []) }).tools, 'WebSearch', { query: 'ships' })).toMatchObject({
    content: 'No results found.',
    isError: false,
  })
})

it.each([
  [{ allowedDomains: ['example.com'] }, ['A']],
  [{ allowedDomains: ['*.EXAMPLE.com', 'example.org'] }, ['A', 'B']],
  [{ blockedDomains: ['example.com'] }, ['B', 'D']],
  [{ allowedDomains: [] }, []],
])('with %j only %j is wanted', (filters, wanted) => {
  const left = RESULTS.filter((result) => isWanted(result, { query: 'ships', ...filters }))
  expect(left.map(({ title }) => title)).toEqual(wanted)
})

it('takes one of the two filters, and two letters or more', async () => {
  const tool = web({ searchProvider: gives('ours') }).tools[1]
  const args = { query: 'ships', allowed_domains: ['a.com'], blocked_domains: ['b.com'] }
  await expect(tool?.precondition?.(args, {} as never)).rejects.toThrow('not both')
  expect(tool?.check({ query: 'x' }).ok).toBe(false)
})

it('asks the next provider if one does not answer, and tells what each said', async () => {
  const broken: SearchProvider = { name: 'broken', search: () => Promise.reject(new Error('no more credit')) }
  const search = (...searchProvider: SearchProvider[]) =>
    call(web({ searchProvider }).tools, 'WebSearch', { query: 'ships' })
  expect((await search(broken, gives('ours'))).content).toContain('1. A')
  expect(await search(broken, broken)).toMatchObject({
    isError: true,
    error: { type: 'network_error' },
    content: 'No search provider has answered. broken: no more credit; broken: no more credit',
  })
})

it('does not wait for a provider that goes on after the call was stopped', async () => {
  const stop = new AbortController()
  const deaf: SearchProvider = {
    name: 'deaf',
    search: () => {
      stop.abort(new Error('cancelled'))
      return new Promise(() => undefined)
    },
  }
  const { tools } = web({ searchProvider: deaf })
  await expect(call(tools, 'WebSearch', { query: 'ships' }, { signal: stop.signal })).rejects.toThrow('cancelled')
})

it('braveSearch asks in the form that the API requires', async () => {
  const site = await useSite((_request, response) => {
    response.end(JSON.stringify({ web: { results: [{ title: 'A', url: 'https://a.com/', description: 'a' }, 7] } }))
  })
  const searchProvider = braveSearch({ apiKey: 'key-of-brave', baseUrl: `http://${site.host}` })
  const args = { query: 'two masts', allowed_domains: ['a.com', 'b.com'] }
  expect((await call(web({ searchProvider }).tools, 'WebSearch', args)).content).toContain(
    '1. A\n   https://a.com/\n   a',
  )
  const asked = new URL(site.asked[0]?.path ?? '', 'http://brave')
  expect(asked.pathname).toBe('/res/v1/web/search')
  expect(asked.searchParams.get('q')).toBe('two masts site:a.com OR site:b.com')
  expect(site.asked[0]?.headers['x-subscription-token']).toBe('key-of-brave')
})

it('searxngSearch asks an instance below a path, for JSON', async () => {
  const site = await useSite((_request, response) => {
    response.end(JSON.stringify({ results: [{ title: 'A', url: 'https://a.com/', content: 'a' }] }))
  })
  const searchProvider = searxngSearch({ baseUrl: `http://${site.host}/searx` })
  expect((await call(web({ searchProvider }).tools, 'WebSearch', { query: 'ships' })).content).toContain('1. A')
  expect(site.asked[0]?.path).toBe('/searx/search?format=json&q=ships')
})

it('the model is told if a provider refuses, or answers nonsense', async () => {
  const refusing = await useSite((_request, response) => void response.writeHead(429).end())
  const nonsense = await useSite('<html>')
  for (const [{ host }, says] of [
    [refusing, 'it answered 429 Too Many Requests'],
    [nonsense, 'is not valid JSON'],
  ] as const) {
    const { tools } = web({ searchProvider: searxngSearch({ baseUrl: `http://${host}` }) })
    expect((await call(tools, 'WebSearch', { query: 'ships' })).content).toContain(says)
  }
})

it('a provider needs its key, or its URL', () => {
  expect(refusal('INVALID_ARGUMENT', () => braveSearch({ apiKey: '' }))).toContain('apiKey')
  expect(refusal('INVALID_ARGUMENT', () => searxngSearch({ baseUrl: 'searx' }))).toContain('baseUrl')
})
