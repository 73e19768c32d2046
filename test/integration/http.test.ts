/** The routes of the HTTP face on real servers: their answers are as the OpenAPI document says. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { createHttpApp } from '../../src/http/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { useHttpFace, type Answered, type Face } from '../support/http-face.ts'
import { eventOf, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()
const serve = useHttpFace()

interface Document {
  openapi: string
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>>
  components: object
}

/** Sends a request, and compares every answer with the document. */
async function checkedFace(): Promise<Face & { asked: Set<string>; document: Document }> {
  const face = await serve(stello.client)
  const document = (await face.get('/openapi.json')).body as Document
  const ajv = new Ajv2020({ strict: false, validateFormats: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'document', ...document })
  const asked = new Set(['GET /api/openapi.json'])
  const check = (method: string, path: string, { status, body }: Answered): void => {
    const [plain = ''] = `/api${path}`.split('?')
    const route = Object.keys(document.paths).find((known) =>
      new RegExp(`^${known.replace(/\{\w+\}/g, '[^/]+')}$`).test(plain),
    )
    if (route === undefined) throw new Error(`the document has no ${plain}`)
    asked.add(`${method} ${route}`)
    const { responses } = document.paths[route]?.[method.toLowerCase()] ?? { responses: {} }
    const given = (responses[status] ?? responses['default'])?.content?.['application/json']
    if (!given) return expect([status, body]).toEqual([204, ''])
    const validate = ajv.compile(JSON.parse(JSON.stringify(given.schema).replaceAll('"#/', '"document#/')) as object)
    validate(body)
    expect(validate.errors ?? [], `${method} ${path}: ${JSON.stringify(body)}`).toEqual([])
  }
  return {
    ...face,
    asked,
    document,
    async get(path, headers) {
      const answered = await face.get(path, headers)
      check('GET', path, answered)
      return answered
    },
    async send(method, path, body) {
      const answered = await face.send(method, path, body)
      check(method, path, answered)
      return answered
    },
  }
}

const pay = tool('pay', 'Pays', z.object({ amount: z.number() }), ({ amount }) => `paid ${amount}`)
const paying = replyBy([
  ['pay', { toolCalls: [{ name: 'pay', arguments: { amount: 3 } }] }],
  [{ tool: 'pay' }, ({ messages }) => `done: ${messages.at(-1)?.content}`],
  [() => true, ({ messages }) => `You said: ${messages.at(-1)?.content}`],
])
const JSON_PAGE = { accept: 'application/json' }

describe('the routes', () => {
  it('lead through the life of a session, and answer as the document says', async () => {
    const face = await checkedFace()
    const { get, send } = face
    const { taskQueue: agent } = await stello.work({
      llm: scriptedModel(paying),
      capabilities: { tools: [pay] },
      permissions: { mode: 'default' },
    })
    expect((await get('/about')).body).toMatchObject({ version: '0.1.0', namespace: expect.any(String) })
    expect((await get('/agents')).body).toContainEqual({ name: agent, served: true, profiles: [] })

    const made = await send('POST', '/sessions', { agent, label: 'lunch', message: 'hello' })
    expect(made).toMatchObject({ status: 201, body: { id: expect.any(String), messageId: expect.any(String) } })
    const { id, messageId } = made.body as { id: string; messageId: string }
    expect(await get(`/sessions/${id}/turns/${messageId}?wait=60`)).toMatchObject({
      status: 200,
      body: { text: 'You said: hello', stopReason: 'end_turn', rounds: 0 },
    })
    expect((await get(`/sessions/${id}`)).body).toMatchObject({ id, label: 'lunch', state: 'idle', turns: 1 })
    expect((await get(`/sessions/${id}/records?from=-1`)).body).toMatchObject({
      records: [{ seq: 2, message: { role: 'assistant', content: 'You said: hello' } }],
      total: 2,
    })

    const fork = await send('POST', `/sessions/${id}/forks`, { label: 'second', context: 'inherit' })
    expect(fork).toMatchObject({ status: 201 })
    const child = (fork.body as { id: string }).id
    expect((await get(`/sessions/${id}/tree`)).body).toMatchObject({ id, children: [{ id: child, parentId: id }] })
    // A worker opens the fork a moment later.
    const { records } = await until('what the fork inherits', async () => {
      const { body } = await get(`/sessions/${child}/records`)
      return (body as { records: object[] }).records.length === 2 && (body as { records: object[] })
    })
    expect(records).toMatchObject([{ inheritedFrom: id }, { inheritedFrom: id }])
    expect((await get(`/roots?agent=${agent}&limit=5`)).body).toMatchObject([{ id, tree: { sessions: 2, open: 2 } }])
    const [{ createdAt } = { createdAt: '' }] = (await get('/roots')).body as { createdAt: string }[]
    expect((await get(`/roots?agent=${agent}&before=${createdAt}`)).body).toEqual([])

    expect((await send('POST', `/sessions/${id}/pause`, { tree: true, reason: 'lunch' })).body).toEqual({
      sessions: 2,
      lost: [],
    })
    for (const one of [id, child]) await eventOf(stello.client.session(one), 'session.paused')
    expect((await get(`/sessions/${id}`)).body).toMatchObject({ state: 'paused', pause: { message: 'lunch' } })
    expect((await get(`/inbox?session=${id}`)).body).toMatchObject([{ kind: 'paused' }, { kind: 'paused' }])
    await send('POST', `/sessions/${id}/resume`, { tree: true })
    for (const one of [id, child]) await eventOf(stello.client.session(one), 'session.resumed')

    expect(await send('POST', `/sessions/${id}/messages`, { text: 'pay', messageId: 'p1' })).toMatchObject({
      status: 202,
      body: { messageId: 'p1' },
    })
    const { data: item } = await eventOf(stello.client.session(id), 'pending.opened')
    expect(await get(`/sessions/${id}/turns/p1`)).toMatchObject({ status: 202, body: { state: 'waiting' } })
    expect((await get('/inbox')).body).toMatchObject([{ sessionId: id, id: item.id, kind: 'approval', name: 'pay' }])
    const remember = { decision: 'approve', remember: 'session' }
    expect((await send('POST', `/sessions/${id}/answers/${encodeURIComponent(item.id)}`, remember)).status).toBe(204)
    expect(await get(`/sessions/${id}/turns/p1?wait=60`)).toMatchObject({ body: { text: 'done: paid 3', rounds: 1 } })
    const [rule] = (await get('/permissions')).body as { scope: string; owner: string; rule: string }[]
    expect(rule).toMatchObject({ scope: 'session', owner: id })
    const { scope, owner, rule: name } = rule ?? { scope: '', owner: '', rule: '' }
    expect((await send('DELETE', '/permissions', { scope, owner, rule: name })).status).toBe(204)
    expect((await get('/permissions')).body).toEqual([])

    // The turn ends in the store first.
    const stats = await until('the workflow has counted the turn', async () => {
      const { body } = await get(`/sessions/${id}/stats`)
      return (body as { totals: { turns: number } }).totals.turns === 2 && body
    })
    expect(stats).toMatchObject({
      totals: { turns: 2 },
      tools: [{ toolName: 'pay', successCount: 1 }],
    })
    expect((await get(`/sessions/${id}/events?tree=1`, JSON_PAGE)).body).toMatchObject({
      events: expect.arrayContaining([expect.objectContaining({ type: 'pending.closed', sessionId: id })]),
    })
    expect((await get(`/sessions/${id}/timeline`)).body).toEqual(
      expect.arrayContaining([expect.objectContaining({ sessionId: id, kind: 'model', outcome: 'succeeded' })]),
    )
    expect((await get(`/search?q=hello&session=${id}`)).body).toMatchObject([
      { sessionId: id, role: expect.any(String), snippet: expect.arrayContaining([{ text: 'hello', hit: true }]) },
      {},
    ])
    expect((await send('POST', `/sessions/${id}/cancel`)).body).toEqual({ sessions: 1, lost: [] })
    expect(await send('POST', `/sessions/${id}/compact`)).toMatchObject({ status: 200, body: {} })
    expect((await send('POST', `/sessions/${id}/recover`)).body).toEqual({ restarted: false, waiting: 0 })
    expect(await send('POST', `/sessions/${id}/close`, { cascade: true })).toMatchObject({ status: 200, body: {} })
    await until('both are closed', async () => {
      const { body } = await get(`/roots?agent=${agent}`)
      return (body as [{ tree: { open: number } }])[0].tree.open === 0
    })
    expect(await send('POST', `/sessions/${id}/messages`, { text: 'more' })).toMatchObject({
      status: 409,
      body: { error: { code: 'SESSION_CLOSED', hint: expect.any(String) } },
    })
    expect(await get('/sessions/s-nowhere')).toMatchObject({
      status: 404,
      body: { error: { code: 'SESSION_NOT_FOUND' } },
    })

    const listed = Object.entries(face.document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(listed.filter((route) => !face.asked.has(route))).toEqual([])
  })

  it('are all in the document, and the document lists no other', async () => {
    const app = createHttpApp({ stello: stello.client })
    const { paths, openapi } = (await (
      await app.request('/api/openapi.json', { headers: { host: 'localhost' } })
    ).json()) as Document
    const listed = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    )
    const routes = app.routes
      .filter(({ path, method }) => path.startsWith('/api/') && !path.endsWith('*') && method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    expect(openapi).toMatch(/^3\.1\./)
    expect(new Set(listed)).toEqual(new Set(routes.filter((route) => !route.endsWith('/openapi.json'))))
    expect(listed.length).toBeGreaterThan(15)
  })

  it('wait for an answer no longer than the request says', async () => {
    const gate = createGate()
    const { get } = await serve(stello.client)
    const session = await stello.session({ llm: scriptedModel(() => gate.pass().then(() => 'late')) })
    await session.send('go', { messageId: 'm' })
    await gate.reached()
    for (const wait of ['', '?wait=0', '?wait=1'])
      expect(await get(`/sessions/${session.id}/turns/m${wait}`)).toMatchObject({
        status: 202,
        body: { state: 'running', heldBy: [] },
      })
    gate.open()
    expect(await get(`/sessions/${session.id}/turns/m?wait=60`)).toMatchObject({ status: 200, body: { text: 'late' } })
    expect(await get(`/sessions/${session.id}/turns/m`)).toMatchObject({ status: 200 })
  })

  it('page through a long log without a gap', async () => {
    const { get } = await serve(stello.client)
    const session = await stello.session({ llm: scriptedModel(() => 'hi') })
    await (await session.send('one')).result()
    const page = async (from: string): Promise<{ events: { offset: number }[]; cursor: string }> =>
      (await get(`/sessions/${session.id}/events?from=${encodeURIComponent(from)}`, JSON_PAGE)).body as never
    const first = await page('1')
    expect(first.events.map(({ offset }) => offset)).toEqual([1, 2])
    expect(await page(first.cursor)).toEqual({ events: [], cursor: first.cursor })
    expect(await page('now')).toEqual({ events: [], cursor: first.cursor })
    await (await session.send('two')).result()
    expect((await page(first.cursor)).events.map(({ offset }) => offset)).toEqual([3, 4, 5])
  })
})

describe('bad input', () => {
  it.each([
    ['POST', '/sessions', {}, 'agent'],
    ['POST', '/sessions', { agent: 3 }, 'agent'],
    ['POST', '/sessions', { agent: 'a', tools: 'profile:admin' }, 'tools'],
    ['POST', '/sessions', { agent: 'a', message: '  ' }, 'message'],
    ['POST', '/sessions', { agent: 'a', message: 'x'.repeat(1024 * 1024 + 1) }, 'message'],
    ['POST', '/sessions', { agent: 'a', bounds: { maxDepth: 'deep' } }, 'bounds.maxDepth'],
    ['POST', '/sessions', { agent: 'a', bounds: { maxDepth: -1 } }, 'maxDepth'],
    ['POST', '/sessions', { agent: 'a', sessionId: '../b' }, 'sessionId'],
    ['POST', '/sessions', { agent: 'a', permissionMode: 'sudo' }, 'permissionMode'],
    ['POST', '/sessions', [], 'object'],
    ['POST', '/sessions', 'agent', 'object'],
    ['POST', '/sessions', null, 'object'],
    ['POST', '/sessions/ID/messages', undefined, 'text'],
    ['POST', '/sessions/ID/messages', { text: 'hi', role: 'system' }, 'role'],
    ['POST', '/sessions/ID/forks', { label: 'a', userId: 'alice' }, 'userId'],
    ['POST', '/sessions/ID/forks', { label: 'a', before: 0 }, 'before'],
    ['POST', '/sessions/ID/forks', { label: 'a', vars: { a: 1 } }, 'vars.a'],
    ['POST', '/sessions/ID/pause', { tree: 'yes' }, 'tree'],
    ['POST', '/sessions/ID/resume', { reason: 'x' }, 'reason'],
    ['POST', '/sessions/ID/close', { cascade: 1 }, 'cascade'],
    ['POST', '/sessions/ID/compact', { all: true }, 'all'],
    ['POST', '/sessions/ID/recover', { restart: 'now' }, 'restart'],
    ['POST', '/sessions/ID/answers/x', { decision: 'perhaps' }, 'decision'],
    ['POST', '/sessions/ID/answers/x', { decision: 'approve', args: 'none' }, 'args'],
    ['POST', '/sessions/ID/answers/x', { decision: 'approve' }, 'waits'],
    ['DELETE', '/permissions', { scope: 'world', owner: 'a', rule: 'b' }, 'scope'],
    ['DELETE', '/permissions', { scope: 'agent', owner: 'a', rule: 'b' }, 'rule'],
    ['GET', '/roots?state=asleep', undefined, 'state'],
    ['GET', '/roots?limit=many', undefined, 'limit'],
    ['GET', '/roots?limit=0', undefined, 'limit'],
    ['GET', '/roots?before=yesterday', undefined, 'before'],
    ['GET', '/roots?sort=age', undefined, 'sort'],
    ['GET', '/search', undefined, 'q'],
    ['GET', '/search?q=a&limit=1000', undefined, 'limit'],
    ['GET', '/sessions/ID/records?limit=5000', undefined, 'limit'],
    ['GET', '/sessions/ID/records?from=x', undefined, 'from'],
    ['GET', '/sessions/ID/turns/m?wait=61', undefined, 'wait'],
    ['GET', '/sessions/ID/events?from=nonsense', undefined, 'cursor'],
    ['GET', '/sessions/ID/events?tree=yes', undefined, 'tree'],
  ] as const)('%s %s %j names %s', async (method, path, body, named) => {
    const face = await serve(stello.client)
    const { id } = await stello.client.createSession({ agent: 'nobody-serves-it' })
    const at = path.replace('ID', id)
    const { status, body: given } = method === 'GET' ? await face.get(at) : await face.send(method, at, body)
    expect([status, given]).toEqual([
      400,
      { error: expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(named) }) },
    ])
  })

  it('broken JSON is a bad body', async () => {
    const { url } = await serve(stello.client)
    const headers = { 'content-type': 'application/json' }
    const asked = await fetch(`${url}/api/sessions`, { method: 'POST', headers, body: '{"agent":' })
    expect(asked.status).toBe(400)
    expect(await asked.json()).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } })
  })

  it('a session that does not exist is 404 on every route, also on a stream', async () => {
    const { get, send } = await serve(stello.client)
    for (const path of ['', '/tree', '/records', '/timeline', '/stats', '/events', '/turns/m'])
      expect(await get(`/sessions/s-nowhere${path}`), path).toMatchObject({ status: 404 })
    for (const [path, body] of Object.entries({
      messages: { text: 'hi' },
      forks: { label: 'a' },
      'answers/x': { decision: 'approve' },
      ...Object.fromEntries(['pause', 'resume', 'cancel', 'close', 'compact', 'recover'].map((one) => [one, {}])),
    }))
      expect(await send('POST', `/sessions/s-nowhere/${path}`, body), path).toMatchObject({ status: 404 })
  })
})
