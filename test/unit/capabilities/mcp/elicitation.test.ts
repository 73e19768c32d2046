/**
 * A server asks the user in the middle of a call. The question goes to a person, and the call begins again with the
 * answer.
 */
import { expect, it } from 'vitest'
import { StelloError } from '../../../../src/core/errors.ts'
import { until } from '../../../support/until.ts'
import { testContext, type TestContext } from '../test-context.ts'
import { badServer, published, usePack, type Pack } from './mcp-fixture.ts'

const ASKING = 'mcp__all__trigger-elicitation-request'

/** The server offers the tool after it has heard that it may ask. */
async function asking(context: TestContext): Promise<Pack> {
  const pack = await usePack({ all: { ...published('everything'), per: 'session' } })
  await until('it may ask', async () => (await pack.names(context)).includes(ASKING))
  return pack
}

it('asks a person with the form of the server, and gives the answer back', async () => {
  const context = testContext({}, () => ({ text: 'Ada', values: { name: 'Ada', check: true } }))
  const { content } = await (await asking(context)).call(ASKING, {}, context)
  expect(context.asked).toMatchObject([
    { header: 'MCP server all', schema: { type: 'object', properties: { name: { type: 'string' } } } },
  ])
  expect(content).toContain('Name: Ada')
})

it('says how long a question waits, and gives it the default where that fits the form', async () => {
  const bad = badServer()
  const asked = async (values: Record<string, unknown>): Promise<unknown> => {
    const questions = { expiresIn: '2 days', default: values }
    const pack = await usePack({ bad: { ...bad.server, per: 'session', questions } })
    const context = testContext({}, () => ({ text: 'no', declined: true }))
    await pack.call('mcp__bad__ask', {}, context)
    return context.asked[0]
  }
  expect(await asked({ name: 'Ada' })).toMatchObject({ expiresIn: '2 days', default: { values: { name: 'Ada' } } })
  expect(await asked({ name: { first: 'Ada' } })).not.toHaveProperty('default')
})

it('tells the server that a person has declined', async () => {
  const context = testContext({}, () => ({ text: 'no' }))
  expect((await (await asking(context)).call(ASKING, {}, context)).content).toMatch(/declined/)
})

it('tells the server the same in a session that asks nobody', async () => {
  const context = testContext({}, () => {
    throw new StelloError('TOOL_PERMISSION_DENIED', 'no person is asked here')
  })
  expect((await (await asking(context)).call(ASKING, {}, context)).content).toMatch(/declined/)
})

it('ends the attempt when the person must be waited for, as the session wants it', async () => {
  const parked = new Error('the attempt ends here')
  const context = testContext({}, () => {
    throw parked
  })
  const pack = await asking(context)
  await expect(pack.call(ASKING, {}, context)).rejects.toBe(parked)
  expect((await pack.call('mcp__all__echo', { message: 'still here' }, context)).content).toBe('Echo: still here')
})

it('tells the server that the call has ended if the question waits for a person', async () => {
  const bad = badServer()
  const pack = await usePack({ bad: { ...bad.server, per: 'session' } })
  const attempt = new AbortController()
  const ask = (): Promise<never> => {
    attempt.abort('a person is asked')
    return new Promise(() => undefined)
  }
  await expect(pack.call('mcp__bad__ask', {}, testContext({ signal: attempt.signal, ask }))).rejects.toThrow()
  await until('it was told', async () => bad.journal().includes('heard cancel'))
})

it('lets a server ask only if its call is alone, because the protocol does not say which call asks', async () => {
  const bad = badServer()
  const pack = await usePack({ bad: { ...bad.server, per: 'session' } })
  const hanging = new AbortController()
  const other = pack.call('mcp__bad__hang', {}, testContext({ signal: hanging.signal })).catch(() => undefined)
  await until('it hangs', async () => bad.journal().includes('hanging'))
  expect((await pack.call('mcp__bad__ask')).content).toBe('decline')
  hanging.abort()
  await other
})

it('lets no server ask that several sessions share, because its question would belong to nobody', async () => {
  const bad = badServer()
  const pack = await usePack({ bad: bad.server })
  const context = testContext({}, () => ({ text: 'me', values: { name: 'me' } }))
  expect(await pack.call('mcp__bad__ask', {}, context)).toMatchObject({
    isError: true,
    content: expect.stringContaining('does not support form elicitation'),
  })
  expect(context.asked).toEqual([])
})
