/** A conversation is made shorter: because the window is full, because a person asks, and until that is stopped. */
import { StelloError } from '../../src/core/errors.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import type { Gate } from '../support/gate.ts'
import { ask, eventOf, type TestAgent } from '../support/session-fixture.ts'
import type { Stage } from './scenarios.ts'
import type { Staged } from './staged.ts'

const LONG = 'x '.repeat(1000)
/** In tokens: room for a few of the long messages. */
const WINDOW = 2500

/** A model with a small window. @param gate where its summaries wait, if they shall */
function narrow(gate?: Gate): TestAgent['llm'] {
  return scriptedModel(async ({ messages }) => {
    const tokens = Math.ceil(JSON.stringify(messages).length / 4)
    if (tokens > WINDOW) throw new StelloError('MODEL_CONTEXT_TOO_LONG', 'maximum context length exceeded')
    const usage = { inputTokens: tokens, outputTokens: 1 }
    if (!messages[0]?.content.startsWith('You write the memory')) return { content: 'fine', usage }
    await gate?.pass()
    return { content: 'A summary.', usage }
  })
}

const talk = async ({ session }: Pick<Stage, 'session'>, times: number): Promise<void> => {
  for (let n = 1; n <= times; n++) await ask(session, `${n} ${LONG}`)
}

export const COMPACTIONS: Record<string, Staged> = {
  'compaction-refused-prompt': {
    agent: () => ({ llm: narrow() }),
    async play(stage) {
      await talk(stage, 7)
      await eventOf(stage.session, 'transcript.compacted')
    },
  },
  'compaction-full-window': {
    agent: () => ({ llm: narrow(), compaction: { window: WINDOW } }),
    async play(stage) {
      await talk(stage, 7)
      await eventOf(stage.session, 'transcript.compacted')
    },
  },
  'compaction-asked': {
    agent: () => ({ llm: narrow() }),
    async play(stage) {
      await talk(stage, 3)
      await stage.session.compact()
      await eventOf(stage.session, 'transcript.compacted')
      await ask(stage.session, 'hello')
    },
  },
  'compaction-stopped': {
    agent: (gate) => ({ llm: narrow(gate), compaction: { window: WINDOW } }),
    async play({ session, gate }) {
      let stopped = false
      void gate.reached().then(() => (stopped = true))
      while (!stopped) {
        const turn = await session.send(LONG)
        await Promise.race([turn.result(), gate.reached()])
      }
      await session.cancelTurn()
      await eventOf(session, 'turn.completed')
      gate.open()
      await ask(session, 'hello')
    },
  },
}
