/** A turn is stopped: what runs is told, and the session takes the next message. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { ask, useStello } from '../support/session-fixture.ts'

const stello = useStello()

it('stops a model call, and the next message is answered', async () => {
  const gate = createGate()
  const llm = scriptedModel(
    replyBy([
      [
        'slow',
        async () => {
          await gate.pass()
          return 'too late'
        },
      ],
      ['next', ({ messages }) => messages.map(({ content }) => content).join(', ')],
    ]),
  )
  const session = await stello.session({ llm })
  const turn = await session.send('slow')
  await gate.reached()
  await session.cancelTurn()
  expect(await turn.result()).toMatchObject({ stopReason: 'cancelled', text: '' })
  expect(await ask(session, 'next')).toBe('slow, next')
})

it('aborts the signal of a running tool, and every call still gets its result', async () => {
  const [running, aborted] = [createGate(), createGate()]
  const wait = tool('wait', 'Waits', z.object({}), async (_args, { signal }) => {
    signal.addEventListener('abort', () => void aborted.pass())
    await running.pass()
    return 'never'
  })
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'wait' }, { name: 'wait' }] }],
      ['next', 'Yes?'],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [wait] } })
  const turn = await session.send('go')
  await running.reached(2)
  await session.cancelTurn()
  await aborted.reached(2)
  expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
  const results = (await session.transcript()).filter(({ role }) => role === 'tool')
  expect(results.map(({ content }) => content.split(':')[0])).toEqual(['TOOL_CANCELLED', 'TOOL_CANCELLED'])
  expect(await ask(session, 'next')).toBe('Yes?')
})

it('ends a paused turn without starting anything', async () => {
  const llm = scriptedModel(() => ({ error: { code: 'MODEL_AUTH', message: 'no key' } }))
  const session = await stello.session({ llm })
  const turn = await session.send('go')
  await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
  await session.cancelTurn()
  expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
  expect(llm.calls).toHaveLength(1)
})

it('without a turn changes nothing', async () => {
  const session = await stello.session({ llm: scriptedModel(() => 'hi') })
  await session.cancelTurn()
  expect(await ask(session, 'hello')).toBe('hi')
})

describe('before there is a worker', () => {
  it('ends the turn of the message that waits, and no model ever reads that message', async () => {
    const llm = scriptedModel(() => 'paid')
    const agent = `late-${randomUUID()}`
    const session = await stello.client.createSession({ agent })
    const turn = await session.send('pay it', { messageId: 'pay' })
    await session.cancelTurn()
    await stello.work({ llm, name: agent })
    expect(await turn.result()).toMatchObject({ stopReason: 'cancelled', text: '' })
    expect(await (await session.send('pay it', { messageId: 'pay' })).result()).toMatchObject({
      stopReason: 'cancelled',
    })
    expect(llm.calls).toEqual([])
    expect(await ask(session, 'now pay')).toBe('paid')
    expect((await session.transcript()).map(({ content }) => content)).toEqual(['pay it', 'now pay', 'paid'])
    expect(await session.state()).toMatchObject({ turns: 2 })
  })

  it('writes nothing for a message that only the store knows as answered', async () => {
    const agent = { llm: scriptedModel(() => 'ok') }
    const worker = await stello.work(agent)
    const session = await stello.client.createSession({ agent: worker.taskQueue })
    await (await session.send('one', { messageId: 'a' })).result()
    await worker.stop()
    await stello.client.temporal.workflow.getHandle(session.id).terminate()
    await session.recover()
    const turn = await session.send('one', { messageId: 'a' })
    await session.cancelTurn()
    await stello.work({ ...agent, name: worker.taskQueue })
    expect(await ask(session, 'two')).toBe('ok')
    expect((await session.transcript()).map(({ content }) => content)).toEqual(['one', 'ok', 'two', 'ok'])
    expect((await turn.result()).stopReason).toBe('end_turn')
  })

  it('leaves alone what is sent after it', async () => {
    const agent = `late-${randomUUID()}`
    const session = await stello.client.createSession({ agent })
    await session.cancelTurn()
    const turn = await session.send('go')
    await stello.work({ llm: scriptedModel(() => 'gone'), name: agent })
    expect((await turn.result()).text).toBe('gone')
  })
})
