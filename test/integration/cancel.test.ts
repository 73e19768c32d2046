/** Stopping a turn: what runs hears of it, and the session takes the next message. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/agent/tool.ts'
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
