/** Everything a session waits for, beside models and tools: people, and times. Each scenario has an agent of its own. */
import { z } from 'zod'
import { replyBy, scriptedModel, type ReplyToolCall, type Rule } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/define-tool.ts'
import type { Gate } from '../support/gate.ts'
import { ask, eventOf, type TestAgent } from '../support/session-fixture.ts'
import { SCENARIOS, scenarioAgent, type Scenario, type Stage } from './scenarios.ts'

interface Staged {
  agent(gate: Gate): TestAgent
  play: Scenario
}

/** Ends while the test looks on. */
const SOON = 200
/** Never ends while the test looks on. */
const LONG = '1 day'

const call = (name: string, args: object = {}): ReplyToolCall => ({ name, arguments: args })
const script = (...rules: Rule[]): TestAgent['llm'] => scriptedModel(replyBy([...rules, [() => true, 'done']]))
const book = tool('book', 'Books', z.object({}), () => 'booked')
const survey = tool('survey', 'Asks', z.object({ wait: z.union([z.string(), z.number()]) }), async ({ wait }, ctx) => {
  const { text } = await ctx.ask({ message: 'Which region?', expiresIn: wait, default: { text: 'EU' } })
  return text
})

const permitting = (expiresIn: string | number): TestAgent => ({
  llm: script(['go', { toolCalls: [call('book')] }]),
  permissions: { expiresIn },
  capabilities: { tools: [book] },
})
const surveying = (wait: string | number): TestAgent => ({
  llm: script(['go', { toolCalls: [call('survey', { wait })] }]),
  capabilities: { tools: [survey] },
})
const asked = async ({ session }: Stage): Promise<string> => (await eventOf(session, 'pending.opened')).data.id

const WAITS: Record<string, Staged> = {
  'question-answered': {
    agent: () => surveying(LONG),
    async play(stage) {
      const turn = await stage.session.send('go')
      await stage.session.answer(await asked(stage), { decision: 'answer', text: 'US' })
      await turn.result()
    },
  },
  'question-expired': {
    agent: () => surveying(SOON),
    play: ({ session }) => ask(session, 'go'),
  },
  'question-stopped': {
    agent: () => surveying(LONG),
    async play(stage) {
      const turn = await stage.session.send('go')
      await asked(stage)
      await stage.session.cancelTurn()
      await turn.result()
    },
  },
  'approval-answered': {
    agent: () => permitting(LONG),
    async play(stage) {
      const turn = await stage.session.send('go')
      await stage.session.approve(await asked(stage))
      await turn.result()
    },
  },
  'approval-expired': {
    agent: () => permitting(SOON),
    play: ({ session }) => ask(session, 'go'),
  },
}

export const ALL_SCENARIOS: Record<string, Staged> = {
  ...Object.fromEntries(Object.entries(SCENARIOS).map(([name, play]) => [name, { agent: scenarioAgent, play }])),
  ...WAITS,
}
