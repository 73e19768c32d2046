/** Servers over streamable HTTP: tokens, lost sessions, and what a failure says about the call. */
import { expect, it } from 'vitest'
import { withoutKnown } from '../../../../src/core/secrets.ts'
import { startHttpServer } from './http-server.ts'
import { usePack } from './mcp-fixture.ts'

it.each([true, false])('calls tools over HTTP, whether the answer is one JSON text (%s) or a stream', async (json) => {
  const server = await startHttpServer(json)
  const pack = await usePack({ remote: { url: server.url, headers: { 'x-team': 'blue' } } })
  expect((await pack.call('mcp__remote__ping')).content).toBe('pong')
  expect(server.headers.every((headers) => headers['x-team'] === 'blue')).toBe(true)
  await expect(pack.call('mcp__remote__long')).rejects.toThrow(/a message of the server has more than 10485760 bytes/)
  expect((await pack.call('mcp__remote__ping')).content).toBe('pong')
})

it('asks for the token before every request, so that it may change, and cuts it from everything that is told', async () => {
  const server = await startHttpServer()
  let given = 0
  const token = async (): Promise<string> => `token-of-the-test-${++given}`
  const pack = await usePack({ remote: { url: server.url, token } })
  server.refuse = ({ headers }) => (headers.authorization?.endsWith('-1') ? 401 : undefined)
  expect((await pack.call('mcp__remote__ping')).content).toBe('pong')
  expect(new Set(server.tokens).size).toBe(server.tokens.length)
  expect(server.tokens.at(-1)).toMatch(/^Bearer token-of-the-test-\d+$/)
  expect(withoutKnown('it was token-of-the-test-1')).toBe('it was (secret)')
})

it('begins a new session where the server has forgotten the old one', async () => {
  const server = await startHttpServer()
  const pack = await usePack({ remote: { url: server.url } })
  server.forget()
  await expect(pack.call('mcp__remote__ping')).rejects.toMatchObject({ name: 'RetryableError' })
  expect((await pack.call('mcp__remote__ping')).content).toBe('pong')
  expect(server.ran).toEqual(['ping'])
})

it.each<[number, object]>([
  [401, { name: 'RetryableError' }],
  [429, { name: 'RetryableError' }],
  [403, { code: 'TOOL_EXECUTION_ERROR' }],
  [502, { code: 'TOOL_OUTCOME_UNKNOWN' }],
])('says what a refusal with status %s means for the call', async (status, error) => {
  const server = await startHttpServer()
  const pack = await usePack({ remote: { url: server.url } })
  server.refuse = ({ method }) => (method === 'POST' ? status : undefined)
  await expect(pack.call('mcp__remote__ping')).rejects.toMatchObject(error)
  delete server.refuse
  expect((await pack.call('mcp__remote__ping')).content).toBe('pong')
})

it('says that nobody knows how a call ended if the server broke off, and goes on', async () => {
  const server = await startHttpServer()
  const pack = await usePack({ remote: { url: server.url } })
  await expect(pack.call('mcp__remote__break')).rejects.toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' })
  expect((await pack.call('mcp__remote__ping')).content).toBe('pong')
  expect(server.ran).toEqual(['break', 'ping'])
})

it('starts a worker while a server is away: its sessions wait', async () => {
  const server = await startHttpServer()
  await server.close()
  const pack = await usePack({ remote: { url: server.url } })
  await expect(pack.names()).rejects.toThrow(/"remote" cannot be reached: /)
})

it('leaves out the tools of a server that is away, if it is optional', async () => {
  const [here, away] = [await startHttpServer(), await startHttpServer()]
  await away.close()
  const pack = await usePack({ here: { url: here.url }, away: { url: away.url, optional: true } })
  expect(await pack.names()).toEqual(['mcp__here__ping', 'mcp__here__long', 'mcp__here__break'])
})
