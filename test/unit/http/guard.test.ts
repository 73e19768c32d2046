/** Who may ask, over a real port. No test reaches a route that asks the client, so there is no client. */
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StelloClient } from '../../../src/client/index.ts'
import { BODY_LIMIT, createHttpApp } from '../../../src/http/create-http-app.ts'
import { serveHttp, type HttpServer, type ServeHttpOptions } from '../../../src/http/index.ts'
import { rawRequest } from '../../support/http-face.ts'

const nobody = {} as StelloClient
const TOKEN = 'a-token-of-some-length'
const servers: HttpServer[] = []
let page = ''
let plain: HttpServer
let guarded: HttpServer

const serve = async (options: Partial<ServeHttpOptions> = {}): Promise<HttpServer> => {
  const server = await serveHttp({ stello: nobody, page, ...options })
  servers.push(server)
  return server
}
const codeOf = ({ status, body }: { status: number; body: string }): [number, string] => [
  status,
  (JSON.parse(body) as { error: { code: string } }).error.code,
]

beforeAll(async () => {
  page = await mkdtemp(join(tmpdir(), 'stello-page-'))
  await mkdir(join(page, 'assets'))
  await writeFile(join(page, 'index.html'), '<!doctype html><title>page</title>')
  await writeFile(join(page, 'assets/main-1.js'), 'export {}')
  await writeFile(join(tmpdir(), 'stello-beside-the-page.txt'), 'secret')
  plain = await serve()
  guarded = await serve({ token: TOKEN })
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  await rm(page, { recursive: true })
  await rm(join(tmpdir(), 'stello-beside-the-page.txt'))
})

describe('the name that a server is asked by', () => {
  it.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'localhost.evil.example:1', '0.0.0.0'])(
    'refuses %s: somebody has pointed that name at this machine',
    async (host) => {
      for (const path of ['/api/openapi.json', '/'])
        expect(codeOf(await rawRequest(plain.url + path, { headers: { host } }))).toEqual([403, 'FORBIDDEN'])
    },
  )

  it.each(['localhost', 'LOCALHOST:1234', '127.0.0.1', '[::1]:80'])('takes %s', async (host) => {
    expect((await rawRequest(`${plain.url}/api/openapi.json`, { headers: { host } })).status).toBe(200)
  })

  it('takes the names that it was given', async () => {
    const { url } = await serve({ hosts: ['stello.example', 'other.example:444'] })
    const ask = async (host: string): Promise<number> => (await rawRequest(`${url}/`, { headers: { host } })).status
    expect(await Promise.all(['stello.example:81', 'other.example:444', 'other.example'].map(ask))).toEqual([
      200, 200, 403,
    ])
  })
})

describe('pages of other origins', () => {
  it.each(['http://evil.example', 'http://localhost:1', 'https://127.0.0.1', 'null', 'file://'])(
    'a request that comes from %s is refused, whatever it asks',
    async (origin) => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const asked = await rawRequest(`${plain.url}/api/openapi.json`, { method, headers: { origin } })
        expect(codeOf(asked)).toEqual([403, 'FORBIDDEN'])
        expect(Object.keys(asked.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      }
    },
  )

  it.each(['cross-site', 'same-site'])('a request that the browser calls %s is refused', async (site) => {
    const headers = { 'sec-fetch-site': site }
    expect(codeOf(await rawRequest(`${plain.url}/api/openapi.json`, { headers }))).toEqual([403, 'FORBIDDEN'])
    // A link that somebody clicks.
    expect((await rawRequest(`${plain.url}/`, { headers })).status).toBe(200)
  })

  it('its own page may ask', async () => {
    const headers = { origin: plain.url, 'sec-fetch-site': 'same-origin' }
    expect((await rawRequest(`${plain.url}/api/openapi.json`, { headers })).status).toBe(200)
  })

  it('a form or a plain text is no JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', undefined]) {
      const headers = type === undefined ? {} : { 'content-type': type }
      const asked = await rawRequest(`${plain.url}/api/sessions`, { method: 'POST', headers, body: '{"agent":"a"}' })
      expect(codeOf(asked)).toEqual([415, 'NOT_JSON'])
    }
  })
})

describe('the token', () => {
  it.each([
    ['no token', {}],
    ['a wrong one', { authorization: `Bearer ${TOKEN}x` }],
    ['the beginning of it', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ['one in a cookie', { cookie: `token=${TOKEN}` }],
  ])('refuses %s on every route', async (_, headers) => {
    for (const path of ['/api/openapi.json', '/api/about', '/api/sessions/s-1/events', '/api/no-such-route'])
      expect(codeOf(await rawRequest(guarded.url + path, { headers }))).toEqual([401, 'UNAUTHORIZED'])
  })

  it('counts in the header only, not in the address', async () => {
    expect((await rawRequest(`${guarded.url}/api/openapi.json?token=${TOKEN}`)).status).toBe(401)
    const headers = { authorization: `Bearer ${TOKEN}` }
    expect((await rawRequest(`${guarded.url}/api/openapi.json`, { headers })).status).toBe(200)
  })

  it('is not needed for the page, which has to ask for it', async () => {
    expect((await rawRequest(`${guarded.url}/`)).status).toBe(200)
  })

  it.each(['', ' ', 'two words', 'schlüssel', 'a\nb'])('cannot be "%s"', (token) => {
    expect(() => createHttpApp({ stello: nobody, token })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error,
    )
  })
})

describe('where it listens', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])('refuses %s without a token', async (host) => {
    await expect(serveHttp({ stello: nobody, host })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('token'),
    })
  })

  it('with a token listens there, and takes the names and addresses of this machine', async () => {
    const { port } = await serve({ host: '0.0.0.0', token: TOKEN })
    const url = `http://127.0.0.1:${port}/`
    expect((await rawRequest(url)).status).toBe(200)
    expect((await rawRequest(url, { headers: { host: `evil.example:${port}` } })).status).toBe(403)
  })

  it('says when the port is taken', async () => {
    await expect(serveHttp({ stello: nobody, port: plain.port })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(String(plain.port)),
    })
  })
})

describe('every answer', () => {
  it.each(['/', '/assets/main-1.js', '/api/openapi.json', '/api/no-such-route', '/a/place/of/the/page'])(
    '%s forbids what the page does not need, and sets no cookie',
    async (path) => {
      const { headers } = await rawRequest(plain.url + path)
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
      )
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(headers['set-cookie']).toBeUndefined()
    },
  )

  it('keeps answers of routes out of caches, and lets files with unique names into them', async () => {
    const cached = async (path: string): Promise<unknown> =>
      (await rawRequest(plain.url + path)).headers['cache-control']
    expect(await cached('/api/openapi.json')).toBe('no-store')
    expect(await cached('/')).toBe('no-store')
    expect(await cached('/assets/main-1.js')).toMatch(/immutable/)
  })

  it('a body that is too long is refused before it is read to its end', async () => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ agent: 'a', message: 'x'.repeat(BODY_LIMIT) })
    const asked = await fetch(`${plain.url}/api/sessions`, { method: 'POST', headers, body })
    expect(codeOf({ status: asked.status, body: await asked.text() })).toEqual([413, 'TOO_LARGE'])
  })

  it('an unexpected error is written to the log, and the client is not told', async () => {
    const told: unknown[] = []
    const { url } = await serve({ onError: (error) => void told.push(error) })
    const { status, body } = await rawRequest(`${url}/api/permissions`)
    expect([status, JSON.parse(body)]).toEqual([
      500,
      { error: { code: 'INTERNAL', message: 'the server failed', hint: 'its log says why' } },
    ])
    expect(told).toEqual([expect.objectContaining({ message: expect.stringContaining('permissions') })])
  })
})

it('an error that ends a stream is told as `failed`, and an unexpected one is written to the log', async () => {
  const told: unknown[] = []
  const broken = {
    events: async () => ({ events: [], cursor: '0' }),
    watch: () => {
      throw new Error('the secret inside')
    },
  }
  const stello = { session: () => broken } as unknown as StelloClient
  const { url } = await serve({ stello, onError: (error) => void told.push(error) })
  const { body } = await rawRequest(`${url}/api/sessions/s-1/events`)
  expect(body).toMatch(/event: failed\ndata: .*"INTERNAL"/)
  expect(body).not.toContain('secret')
  expect(told).toHaveLength(1)
})

describe('the page', () => {
  it('is served at every place that is neither a file nor a route', async () => {
    for (const path of ['/', '/index.html', '/sessions/s-1']) {
      const { body, headers } = await rawRequest(plain.url + path)
      expect([body, headers['content-type']]).toEqual([
        '<!doctype html><title>page</title>',
        'text/html; charset=utf-8',
      ])
    }
    const { headers } = await rawRequest(`${plain.url}/assets/main-1.js`)
    expect(headers['content-type']).toMatch(/^text\/javascript/)
    expect((await rawRequest(`${plain.url}/assets/main-2.js`)).status).toBe(404)
  })

  it.each([
    '/../stello-beside-the-page.txt',
    '/%2e%2e/stello-beside-the-page.txt',
    '/assets/..%2f..%2fstello-beside-the-page.txt',
  ])('shows nothing outside its folder: %s', async (path) => {
    expect((await rawRequest(plain.url + path, {})).body).not.toContain('secret')
  })

  it('that is not built says how to build it', async () => {
    const { url } = await serve({ page: join(page, 'not-there') })
    expect(await rawRequest(`${url}/`)).toMatchObject({ status: 503, body: expect.stringContaining('npm run build') })
  })
})
