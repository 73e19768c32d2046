/** One request to a hostile server: answers without end, compressed bombs, no answer, unknown compression. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { guardedRequest, type RequestBounds } from '../../../../src/capabilities/network/guarded-request.ts'
import { networkGuard } from '../../../../src/capabilities/network/network-guard.ts'
import { useSite, type Site } from '../sites.ts'

const MiB = 1024 * 1024

function get({ host }: Site, bounds: Partial<RequestBounds> = {}) {
  const guard = networkGuard({ where: 'test', allow: [host] })
  const signal = new AbortController().signal
  return guardedRequest(guard, `http://${host}/`, { timeoutMs: 60_000, sizeLimit: MiB, signal, ...bounds })
}

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['GZIP, br', (text: Buffer) => brotliCompressSync(gzipSync(text))],
  ['identity', (text: Buffer) => text],
])('an answer packed as %s is read', async (packing, pack) => {
  const site = await useSite((_request, response) => {
    response.setHeader('content-encoding', packing).end(pack(Buffer.from('good morning')))
  })
  expect((await get(site)).body.toString()).toBe('good morning')
})

it('16 MiB in some KiB, compressed once or twice, are not decompressed to the end', async () => {
  const zeros = Buffer.alloc(16 * MiB)
  for (const [packing, bomb] of [
    ['gzip', gzipSync(zeros)],
    ['gzip, gzip', gzipSync(gzipSync(zeros))],
    ['br', brotliCompressSync(zeros)],
  ] as const) {
    const site = await useSite((_request, response) => void response.setHeader('content-encoding', packing).end(bomb))
    await expect(get(site)).rejects.toMatchObject({
      type: 'network_error',
      message: 'The answer is larger than 1 MiB.',
    })
  }
})

it('an answer without end is not read to its end', async () => {
  const site = await useSite((_request, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
    }
    response.on('drain', write)
    write()
  })
  await expect(get(site)).rejects.toThrow('larger than 1 MiB')
})

it.each(['zstd', 'gzip, gzip, gzip', 'constructor'])('what is packed as %s is refused', async (packing) => {
  const site = await useSite((_request, response) => void response.setHeader('content-encoding', packing).end('x'))
  await expect(get(site)).rejects.toThrow(`packed as "${packing}"`)
})

it('an answer that is not compressed as it says is an error that the model reads', async () => {
  const site = await useSite((_request, response) => void response.setHeader('content-encoding', 'gzip').end('plain'))
  await expect(get(site)).rejects.toMatchObject({ name: 'NetworkRefusal', type: 'network_error' })
})

it('a server that never begins or never ends its answer is left when the time is over', async () => {
  const silent = await useSite(() => undefined)
  const slow = await useSite((_request, response) => void response.write('begin'))
  for (const site of [silent, slow]) {
    await expect(get(site, { timeoutMs: 300 })).rejects.toMatchObject({ type: 'timeout_error' })
  }
})

it('a call that is stopped ends its request, with its own reason', async () => {
  const stop = new AbortController()
  const site = await useSite(() => stop.abort(new Error('cancelled')))
  await expect(get(site, { signal: stop.signal })).rejects.toThrow('cancelled')
})

it('a refused connection is an error that the model reads', async () => {
  const { port } = await useSite('')
  const guard = networkGuard({
    where: 'test',
    allow: ['gone.example'],
    resolve: () => Promise.reject(new Error('getaddrinfo ENOTFOUND gone.example')),
  })
  const bounds = { timeoutMs: 60_000, sizeLimit: MiB, signal: new AbortController().signal }
  await expect(guardedRequest(guard, `http://gone.example:${port}/`, bounds)).rejects.toMatchObject({
    type: 'network_error',
    message: expect.stringContaining('ENOTFOUND'),
  })
})

it('no redirect is followed, no cookie is sent back, and a name is resolved once for a request', async () => {
  const site = await useSite((_request, response) => {
    response.writeHead(302, { location: 'http://127.0.0.1:1/', 'set-cookie': 'a=b' }).end()
  })
  let resolved = 0
  const guard = networkGuard({
    where: 'test',
    allow: [`site.example:${site.port}`],
    resolve: async () => {
      resolved++
      return [{ address: '127.0.0.1', family: 4 }]
    },
  })
  const bounds = { timeoutMs: 60_000, sizeLimit: MiB, signal: new AbortController().signal }
  for (const _again of [1, 2]) {
    expect(await guardedRequest(guard, `http://site.example:${site.port}/a`, bounds)).toMatchObject({ status: 302 })
  }
  expect(resolved).toBe(2)
  expect(site.asked.map(({ path, headers }) => [path, headers.cookie])).toEqual([
    ['/a', undefined],
    ['/a', undefined],
  ])
})

it('a name that leads to this machine is not connected to', async () => {
  const guard = networkGuard({ where: 'test', resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const bounds = { timeoutMs: 60_000, sizeLimit: MiB, signal: new AbortController().signal }
  for (const url of ['http://rebound.example/', 'https://rebound.example/']) {
    await expect(guardedRequest(guard, url, bounds)).rejects.toMatchObject({ type: 'permission_denied' })
  }
})
