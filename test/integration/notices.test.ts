/** Notices of what waits for a person, to a function or a webhook: each item once, and nobody is held up. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { fromEnv } from '../../src/capabilities/index.ts'
import type { Notice, PendingNotifier } from '../../src/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { createGate } from '../support/gate.ts'
import { until } from '../support/until.ts'
import { eventOf, useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello()

const agentWith = (onPending: PendingNotifier): TestAgent => ({
  onPending,
  llm: scriptedModel(
    replyBy([
      ['stay', 'nothing to do'],
      ['go', { toolCalls: [{ name: 'book' }] }],
      [({ role }) => role === 'tool', ({ messages }) => `read: ${messages.at(-1)?.content}`],
    ]),
  ),
  capabilities: {
    tools: [tool('book', 'Books', z.object({}), async (_, ctx) => (await ctx.ask({ message: 'Which region?' })).text)],
  },
})

describe('a function', () => {
  it('is told once of a question and of a pause, also when another worker serves the session', async () => {
    const notices: Notice[] = []
    const agent = agentWith((notice) => void notices.push(notice))
    const first = await stello.work(agent)
    const session = await stello.client.createSession({ agent: first.taskQueue, label: 'travel' })
    const turn = await session.send('go')
    const { data } = await eventOf(session, 'pending.opened')
    await expect.poll(() => notices).toHaveLength(1)
    await first.stop()
    await stello.work({ ...agent, name: first.taskQueue })
    await session.pause('lunch')
    await expect.poll(() => notices).toHaveLength(2)
    expect(notices).toMatchObject([
      { sessionId: session.id, label: 'travel', kind: 'question', id: data.id, name: 'book', message: 'Which region?' },
      { sessionId: session.id, kind: 'paused', message: 'lunch', command: `stello resume ${session.id}` },
    ])
    expect(new Set(notices.map(({ key }) => key)).size).toBe(2)
    await session.resume()
    await session.answer(data.id, { decision: 'answer', text: 'EU' })
    expect((await turn.result()).text).toBe('read: EU')
    expect(notices).toHaveLength(2)
  })

  it('is told once of a pause, also when the session continues as new while it is being told', async () => {
    const told: string[] = []
    const gate = createGate()
    const session = await stello.session(
      agentWith(async ({ kind }) => {
        told.push(kind)
        if (kind === 'paused') await gate.pass()
      }),
    )
    const turn = await session.send('go')
    await expect.poll(() => told).toEqual(['question'])
    await session.pause('lunch')
    await gate.reached()
    const workflow = stello.client.temporal.workflow.getHandle(session.id)
    const { runId } = await workflow.describe()
    // A requested cancellation stops the turn, and the run continues as new behind that.
    await workflow.cancel()
    await turn.result()
    const waiting = await until('nothing is left to do in this run but to tell', async () => {
      const { raw, ...described } = await workflow.describe()
      const isAlone = raw.pendingActivities?.length === 1 && !raw.pendingWorkflowTask
      return (described.runId !== runId || isAlone) && described
    })
    // The next run would tell it again, unless the telling of this one happened to end first.
    expect(waiting.runId).toBe(runId)
    gate.open()
    await until('the next run', async () => (await workflow.describe()).runId !== runId)
    await session.resume()
    expect((await (await session.send('stay')).result()).text).toBe('nothing to do')
    expect(told).toEqual(['question', 'paused'])
  })

  it('that fails or never ends holds nobody up, and an event tells of it after enough tries', async () => {
    let tries = 0
    const session = await stello.session(
      agentWith(() => {
        tries++
        throw new Error('the bell is broken')
      }),
    )
    const turn = await session.send('go')
    const { data } = await eventOf(session, 'pending.opened')
    const failed = await eventOf(session, 'notice.failed')
    expect(failed.data).toMatchObject({ why: 'the bell is broken' })
    expect(tries).toBe(5)
    await session.answer(data.id, { decision: 'answer', text: 'EU' })
    expect((await turn.result()).text).toBe('read: EU')

    const hanging = await stello.session(agentWith(() => new Promise(() => undefined)))
    const other = await hanging.send('go')
    const asked = await eventOf(hanging, 'pending.opened')
    await hanging.answer(asked.data.id, { decision: 'answer', text: 'US' })
    expect((await other.result()).text).toBe('read: US')
    await hanging.close()
  })
})

it('a webhook gets the notice with its headers and a key, and again when it has failed', async () => {
  const got: { headers: Record<string, unknown>; body: Notice }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => (text += piece.toString()))
    request.on('end', () => {
      got.push({ headers: request.headers, body: JSON.parse(text) as Notice })
      response.writeHead(got.length === 1 ? 503 : 204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  process.env['HOOK_TOKEN_OF_TEST'] = 'a token of a test'
  onTestFinished(() => void delete process.env['HOOK_TOKEN_OF_TEST'])
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const session = await stello.session(agentWith({ url, headers: { authorization: fromEnv('HOOK_TOKEN_OF_TEST') } }))
  await session.send('go')
  await expect.poll(() => got.length).toBe(2)
  const [first, second] = got
  expect(second?.body).toEqual(first?.body)
  expect(first?.headers).toMatchObject({
    authorization: 'a token of a test',
    'idempotency-key': first?.body.key,
    'content-type': 'application/json',
  })
})
