/** Several sessions, and several messages at once: agents, a pause of a whole tree, a message in the middle of a turn. */
import { z } from 'zod'
import { agents } from '../../src/capabilities/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { onlyChild } from '../support/forks.ts'
import type { Gate } from '../support/gate.ts'
import { eventOf, type TestAgent } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'
import type { Stage } from './scenarios.ts'
import { call, intoNextRun, script, type Staged } from './staged.ts'

/** Spawns an agent, which comes to the gate, and waits for it. @param waiting arguments of the wait */
const leading =
  (waiting: object = {}) =>
  (gate: Gate): TestAgent => ({
    llm: script(
      ['go', { toolCalls: [call('spawn-agent', { message: 'slowly' })] }],
      ['slowly', () => gate.pass().then(() => 'slow answer')],
      [
        { tool: 'spawn-agent' },
        ({ messages }) => {
          const { agentId } = JSON.parse(messages.at(-1)?.content ?? '') as { agentId: string }
          return { toolCalls: [call('wait-agent', { agentIds: [agentId], ...waiting })] }
        },
      ],
    ),
    capabilities: { packs: [agents()] },
  })

/** The call waits for the agent, and nothing is in hand. */
const waits = ({ session }: Stage): Promise<unknown> =>
  until('the agent is waited for', async () => {
    const { state, inHand } = await session.state()
    return state === 'waiting' && inHand.length === 0
  })

const looking = (gate: Gate): TestAgent => ({
  llm: script(['look', { toolCalls: [call('look')] }]),
  capabilities: { tools: [tool('look', 'Waits', z.object({}), () => gate.pass().then(() => 'seen'))] },
})

export const TREES: Record<string, Staged> = {
  'agent-waited-for': {
    agent: leading(),
    async play(stage) {
      const turn = await stage.session.send('go')
      await stage.gate.reached()
      await waits(stage)
      stage.gate.open()
      await turn.result()
    },
  },
  'agent-wait-over': {
    agent: leading({ timeout_ms: 200 }),
    async play({ session, gate }) {
      const turn = await session.send('go')
      await turn.result()
      gate.open()
    },
  },
  'continued-with-an-agent': {
    agent: leading({ timeout_ms: 24 * 60 * 60_000 }),
    async play(stage) {
      const turn = await stage.session.send('go')
      await stage.gate.reached()
      await waits(stage)
      await intoNextRun(stage, turn)
      stage.gate.open()
      await turn.result()
    },
  },
  'tree-paused-resumed': {
    agent: (gate) => ({
      systemTools: true,
      llm: script(
        ['go', { toolCalls: [call('new_task', { label: 'task', message: 'look' })] }],
        ['look', { toolCalls: [call('look')] }],
      ),
      capabilities: looking(gate).capabilities ?? {},
    }),
    async play({ client, session, gate }) {
      const turn = await session.send('go')
      await gate.reached()
      await session.pause({ reason: 'lunch', tree: true })
      for (const one of [session, await onlyChild(client, session)]) await eventOf(one, 'session.paused')
      gate.open()
      await session.resume({ tree: true })
      await turn.result()
    },
  },
  'messages-in-a-turn': {
    agent: looking,
    async play({ session, gate }) {
      const turn = await session.send('look')
      await gate.reached()
      const later = [await session.send('hello'), await session.send(`big ${'x'.repeat(5000)}`)]
      gate.open()
      for (const one of [turn, ...later]) await one.result()
    },
  },
}
