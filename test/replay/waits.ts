/** Everything a session waits for, beside models and tools: people, and times. Each scenario has an agent of its own. */
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { ask, eventOf, type TestAgent } from '../support/session-fixture.ts'
import type { Stage } from './scenarios.ts'
import { call, intoNextRun, script, type Staged } from './staged.ts'

/** Ends while the test looks on. */
const SOON = 200
/** Ends in the next run. */
const LATER = 5000
/** Never ends while the test looks on. */
const LONG = '1 day'

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
/** Its provider is away twice, and the session tries again by itself. */
const trying = (first: number): TestAgent => {
  let left = 2
  const away = { error: { code: 'MODEL_UNAVAILABLE', message: 'the provider is away' } } as const
  return {
    llm: script(['go', () => (left-- > 0 ? away : 'done')]),
    retries: { model: { attempts: 1 } },
    autoResume: { first, longest: first },
  }
}
const asked = async ({ session }: Stage): Promise<string> => (await eventOf(session, 'pending.opened')).data.id

export const WAITS: Record<string, Staged> = {
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
  'continued-while-asked': {
    agent: () => surveying(LONG),
    async play(stage) {
      const turn = await stage.session.send('go')
      const id = await asked(stage)
      await intoNextRun(stage, turn)
      await stage.session.answer(id, { decision: 'answer', text: 'US' })
      await turn.result()
    },
  },
  'continued-until-expired': {
    agent: () => permitting(LATER),
    async play(stage) {
      const turn = await stage.session.send('go')
      await asked(stage)
      await intoNextRun(stage, turn)
      await turn.result()
    },
  },
  'asked-with-notice': {
    agent: () => ({ ...permitting(LONG), onPending: () => undefined }),
    async play(stage) {
      const turn = await stage.session.send('go')
      await stage.session.approve(await asked(stage))
      await turn.result()
    },
  },
  'resumed-by-itself': {
    agent: () => trying(SOON),
    play: ({ session }) => ask(session, 'go'),
  },
  'continued-before-a-try': {
    agent: () => trying(LATER),
    async play(stage) {
      const turn = await stage.session.send('go')
      await eventOf(stage.session, 'session.paused')
      await intoNextRun(stage, turn)
      await turn.result()
    },
  },
}
