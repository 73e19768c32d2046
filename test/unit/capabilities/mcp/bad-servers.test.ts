/** Servers that crash, hang, say too much or change their minds. */
import { expect, it, onTestFinished } from 'vitest'
import { until } from '../../../support/until.ts'
import { mcp, fromEnv } from '../../../../src/capabilities/index.ts'
import { withoutKnown } from '../../../../src/core/secrets.ts'
import { testContext } from '../test-context.ts'
import { badServer, usePack } from './mcp-fixture.ts'

it('says that nobody knows how a call ended if its server crashed, sends it once, and starts the server again', async () => {
  const bad = badServer()
  const pack = await usePack({ bad: bad.server })
  await expect(pack.call('mcp__bad__crash')).rejects.toMatchObject({
    code: 'TOOL_OUTCOME_UNKNOWN',
    message: expect.stringMatching(/"bad" was lost during "crash": .*out of memory.*was not sent again/),
  })
  expect((await pack.call('mcp__bad__long', { bytes: 3 })).content).toBe('xxx')
  expect(bad.journal()).toEqual(['started', 'crashed', 'started'])
})

it('lets a call be repeated where the agent says that this does no harm', async () => {
  const bad = badServer()
  const pack = await usePack({ bad: { ...bad.server, tools: { crash: { effect: 'idempotent' } } } })
  const error = await pack.call('mcp__bad__crash').catch((reason: unknown) => reason)
  expect(error).toMatchObject({ message: expect.stringContaining('was lost during "crash"') })
  expect(error).not.toHaveProperty('code')
})

it('keeps the tools of a server that is away: the call fails, not the conversation', async () => {
  const bad = badServer()
  const server = { ...bad.server }
  const pack = await usePack({ bad: server })
  const names = await pack.names()
  server.args = [...(server.args ?? []), 'never-starts']
  await pack.call('mcp__bad__crash').catch(() => undefined)
  expect(await pack.names()).toEqual(names)
  await expect(pack.call('mcp__bad__long', { bytes: 3 })).rejects.toMatchObject({
    name: 'RetryableError',
    message: expect.stringMatching(/"bad" cannot be reached: .*no licence for anybody/),
  })
})

it('waits longer and longer before it starts a server again that does not start', async () => {
  const bad = badServer('never-starts')
  const pack = await usePack({ bad: { ...bad.server, optional: true } })
  for (let asked = 0; asked < 20; asked++) expect(await pack.names()).toEqual([])
  expect(bad.journal().length).toBeLessThan(5)
})

it('starts no worker without a program that must exist, and repeats what the program said', async () => {
  const bad = badServer('never-starts')
  const pack = mcp({ servers: { bad: bad.server } })
  await expect(pack.open?.()).rejects.toThrow(/"bad" cannot be reached: .*no licence for anybody/)
})

it('tells people how far a call is, stops waiting for a server that hangs, and tells the server', async () => {
  const bad = badServer()
  const pack = await usePack({ bad: bad.server })
  const time = new AbortController()
  const told: string[] = []
  const context = testContext({ signal: time.signal, onProgress: (message) => void told.push(message) })
  const ended = expect(pack.call('mcp__bad__hang', {}, context)).rejects.toThrow()
  await until('it hangs', async () => told.includes('1 of 3'))
  time.abort(new Error('out of time'))
  await ended
  await until('it was told', async () => bad.journal().includes('told to stop'))
  expect((await pack.call('mcp__bad__long', { bytes: 1 })).content).toBe('x')
  expect(bad.journal().filter((word) => word === 'started')).toHaveLength(1)
})

it('ends a server that does not react any more, and starts it again', async () => {
  const bad = badServer()
  const pack = await usePack({ bad: bad.server })
  const time = new AbortController()
  const ended = expect(pack.call('mcp__bad__freeze', {}, testContext({ signal: time.signal }))).rejects.toThrow()
  await until('it froze', async () => bad.journal().includes('frozen'))
  time.abort(new Error('out of time'))
  await ended
  const again = async (): Promise<string> => (await pack.call('mcp__bad__long', { bytes: 1 })).content
  expect(await again()).toBe('x')
  expect(bad.journal().filter((word) => word === 'started')).toHaveLength(2)
})

it('takes an answer of 5 MB, and ends a server whose message is larger than 10 MiB', async () => {
  const bad = badServer()
  const pack = await usePack({ bad: bad.server })
  expect((await pack.call('mcp__bad__long', { bytes: 5_000_000 })).content).toHaveLength(5_000_000)
  await expect(pack.call('mcp__bad__long', { bytes: 11_000_000 })).rejects.toMatchObject({
    code: 'TOOL_OUTCOME_UNKNOWN',
    message: expect.stringContaining('ReadBuffer exceeded maximum size'),
  })
})

it('offers a new tool at the next model call', async () => {
  const pack = await usePack({ bad: badServer().server })
  expect(await pack.names()).not.toContain('mcp__bad__dance')
  expect((await pack.call('mcp__bad__learn', { name: 'dance' })).content).toBe('learnt')
  await until('it is offered', async () => (await pack.names()).includes('mcp__bad__dance'))
  expect((await pack.call('mcp__bad__dance')).content).toBe('I am dance')
})

it('calls the tool that is meant when two have the same clean name', async () => {
  const pack = await usePack({ bad: badServer().server })
  const dotted = (await pack.names()).find((name) => /^mcp__bad__a_b_[0-9a-f]{8}$/.test(name)) as string
  expect((await pack.call(dotted)).content).toBe('with a dot')
  expect((await pack.call('mcp__bad__a_b')).content).toBe('with a line')
})

it('names pictures and sounds that no model takes', async () => {
  const pack = await usePack({ bad: badServer().server })
  const { content, parts } = await pack.call('mcp__bad__vector')
  expect(parts).toBeUndefined()
  expect(content.split('\n')).toEqual([
    '[image, image/svg+xml, 6 bytes: it cannot be shown here]',
    '[image, image/png, 3932163 bytes: it cannot be shown here]',
    '[audio, audio/wav, 3 bytes: it cannot be shown here]',
  ])
})

it('passes on the key by which the server can recognise a repetition', async () => {
  const pack = await usePack({ bad: badServer().server })
  expect((await pack.call('mcp__bad__key', {}, testContext({ idempotencyKey: 'call-7' }))).content).toBe('call-7')
})

it('reads a secret in the worker, and cuts it from everything that is told', async () => {
  process.env['MCP_TEST_LICENCE'] = 'licence-0123456789'
  onTestFinished(() => void delete process.env['MCP_TEST_LICENCE'])
  const { server } = badServer()
  const pack = await usePack({ bad: { ...server, env: { LICENCE: fromEnv('MCP_TEST_LICENCE') } } })
  const { content } = await pack.call('mcp__bad__tell')
  expect((JSON.parse(content) as Record<string, string>)['LICENCE']).toBe('licence-0123456789')
  expect(withoutKnown(content)).not.toContain('licence-0123456789')
  const never = mcp({
    servers: { bad: { ...badServer('never-starts').server, env: { LICENCE: fromEnv('MCP_TEST_LICENCE') } } },
  })
  await expect(never.open?.()).rejects.toThrow(/no licence for \(secret\)/)
})

it('starts no worker without a secret that a server needs', async () => {
  const pack = mcp({ servers: { bad: { ...badServer().server, env: { KEY: fromEnv('MCP_TEST_MISSING') } } } })
  await expect(pack.open?.()).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'mcp: server "bad".env.KEY: the environment variable MCP_TEST_MISSING is not set',
  })
})
