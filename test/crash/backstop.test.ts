/**
 * A call that runs into its backstop. Temporal ends such a call 90 s after its tool's time-out, so this test belongs to
 * the kills, which `npm test` leaves out. The worker lives, and has another idea of that time-out.
 */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { eventOf, useStello, type TestAgent } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'

const stello = useStello()

/** A call after its backstop. Its tool waits at the gate `looking` while it finds out what happened. */
async function behindBackstop(looking: Gate, stopped: Gate): Promise<{ session: SessionHandle; turn: TurnHandle }> {
  const [asked, running] = [createGate(), createGate()]
  const agent = (timeout: number): TestAgent => ({
    llm: scriptedModel(
      replyBy([
        ['go', () => asked.pass().then(() => ({ toolCalls: [{ name: 'pay' }] }))],
        [() => true, 'done'],
      ]),
    ),
    capabilities: {
      tools: [
        tool('pay', 'Pays', z.object({}), () => running.pass().then(() => 'paid'), {
          timeout,
          verify: async (_, { signal }) => {
            signal.addEventListener('abort', () => void stopped.pass())
            await looking.pass()
          },
        }),
      ],
    },
  })
  const first = await stello.work(agent(1))
  const session = await stello.client.createSession({ agent: first.taskQueue })
  const turn = await session.send('go')
  await asked.reached()
  await session.pause()
  await eventOf(session, 'session.paused')
  asked.open()
  await viewOf(stello.client, session, (view) => view.turn?.phase === 'tools')
  await first.stop()
  await stello.work({ ...agent(600_000), name: first.taskQueue })
  await session.resume()
  await running.reached()
  await looking.reached()
  return { session, turn }
}

it('cancelTurn reaches a tool that is finding out what became of a call after its backstop', async () => {
  const [looking, stopped] = [createGate(), createGate()]
  const { session, turn } = await behindBackstop(looking, stopped)
  await session.cancelTurn()
  await stopped.reached()
  expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
  expect((await session.transcript()).at(-1)?.content).toContain('TOOL_TIMEOUT')
})

it('a tool that takes longer to find out than Temporal waits is stopped in time, and asked once', async () => {
  const [looking, stopped] = [createGate(), createGate()]
  const { session, turn } = await behindBackstop(looking, stopped)
  await stopped.reached()
  expect((await turn.result()).text).toBe('done')
  expect((await session.transcript()).find(({ role }) => role === 'tool')?.content).toContain('TOOL_TIMEOUT')
  expect(looking.arrived).toBe(1)
})
