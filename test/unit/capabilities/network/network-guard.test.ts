/** Which URLs are requested: none that leads to this machine, its network or its cloud, in whatever spelling. */
import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { isPublicAddress, networkGuard } from '../../../../src/capabilities/network/network-guard.ts'
import { refusal } from '../../agent/authoring.ts'

const guard = networkGuard({ where: 'test' })

it.each([
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://017700000001/',
  'http://0177.0.0.01/',
  'http://127.0.0.1./',
  'http://①②⑦.0.0.1/',
  'http://127。0。0。1/',
  'http://0/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b:1::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001::1]/',
  'http://[fe80::1]/',
  'http://[fc00::1]/',
  'http://[fec0::1]/',
  'http://[4000::1]/',
  'http://[ff02::1]/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.0.1/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://168.63.129.16/',
  'http://198.18.0.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.localhost/',
  'http://printer.local/',
  'http://metadata.google.internal/',
  'http://router.lan/',
  'http://nas.home.arpa/',
  'http://intranet/',
])('%s is not asked for', (url) => {
  expect(() => guard.demand(url)).toThrow('is not an address of the public internet')
  expect(() => guard.connect(new URL(url).hostname, 80)).toThrow('is not an address of the public internet')
})

it.each([
  ['file:///etc/passwd', 'file: is not allowed'],
  ['ftp://example.com/', 'ftp: is not allowed'],
  ['data:text/html,x', 'data: is not allowed'],
  ['javascript:alert(1)', 'javascript: is not allowed'],
  ['https://me:geheim@example.com/', 'a user or a password'],
  ['https://me@example.com/', 'a user or a password'],
  ['https://example.com:8443/', 'port 8443'],
  ['http://example.com:22/', 'port 22'],
  ['example.com', 'is no URL'],
  ['http://[::1%25eth0]/', 'is no URL'],
])('%s is refused: %s', (url, says) => {
  expect(() => guard.demand(url)).toThrow(says)
})

it.each(['https://example.com/a?b#c', 'http://93.184.215.14/', 'https://[2606:4700::1111]/', 'https://example.com./'])(
  '%s is asked for',
  (url) => {
    expect(guard.demand(url).href).toBe(url)
  },
)

it('no text except an address of the public internet counts as one', () => {
  expect(['', 'example.com', '8.8.8.8.8', '127.0.0.1'].map(isPublicAddress)).toEqual([false, false, false, false])
  expect(['8.8.8.8', '::ffff:8.8.8.8', '2606:4700::1111'].map(isPublicAddress)).toEqual([true, true, true])
})

describe('a name', () => {
  const lookup = async (found: string[], host: string, allow: string[] = [], port = 443): Promise<unknown> => {
    const resolve = async (): Promise<LookupAddress[]> => found.map((address) => ({ address, family: 4 }))
    const { lookupFor } = networkGuard({ where: 'test', allow, resolve })
    return new Promise((answer) => {
      lookupFor(port)(host, { all: true }, (error, addresses) => answer(error?.message ?? addresses))
    })
  }

  it('that leads to this machine is refused, also beside public addresses', async () => {
    for (const found of [['127.0.0.1'], ['93.184.215.14', '169.254.169.254'], ['::ffff:10.0.0.1']]) {
      expect(await lookup(found, 'rebound.example')).toContain('rebound.example is not an address of the public')
    }
  })

  it('is connected to at the very address that was checked', async () => {
    expect(await lookup(['93.184.215.14', '93.184.215.15'], 'example.com')).toEqual([
      { address: '93.184.215.14', family: 4 },
      { address: '93.184.215.15', family: 4 },
    ])
  })

  it('that the author has allowed leads where it leads, on the allowed port', async () => {
    expect(await lookup(['10.0.0.7'], 'wiki.corp', ['WIKI.corp'], 8080)).toHaveLength(1)
    expect(await lookup(['10.0.0.7'], 'wiki.corp', ['wiki.corp:8080'], 8080)).toHaveLength(1)
    expect(await lookup(['10.0.0.7'], 'wiki.corp', ['wiki.corp:8080'], 80)).toContain('is not an address')
    expect(await lookup(['10.0.0.7'], 'a.wiki.corp', ['wiki.corp'], 80)).toContain('is not an address')
  })
})

it.each(['https://wiki.corp', 'wiki.corp/a', 'a b', '', 'me@wiki.corp', 'wiki.corp:port'])(
  'allow holds hosts, which "%s" is not',
  (entry) => {
    expect(refusal('INVALID_ARGUMENT', () => networkGuard({ where: 'web', allow: [entry] }))).toContain(
      `web: allow: '${entry}' is no host`,
    )
  },
)

it('addresses of this machine are allowed if the author says so, in every spelling', () => {
  const opened = networkGuard({ where: 'test', allow: ['127.0.0.1:8080', '[::1]'] })
  for (const url of ['http://127.1:8080/', 'http://0x7f000001:8080/', 'http://[0:0::1]:99/']) {
    expect(opened.demand(url)).toBeInstanceOf(URL)
  }
  expect(() => opened.demand('http://127.0.0.1:8081/')).toThrow('port 8081')
  expect(() => opened.demand('http://[::ffff:127.0.0.1]:8080/')).toThrow('port 8080')
})
