/**
 * Fallback models: the next model is asked while the first one is busy or away, and the session goes on. In this
 * example the first model is always busy.
 *
 * Try it: `stello dev examples/features/fallback-models.ts`, then `stello start patient --message "Hello" --wait`.
 */
import { createStelloAgent, fallback, type StelloAgent } from 'stello-temporal'
import { scriptedModel } from 'stello-temporal/testing'
import { modelOr } from './model-or.ts'

const crowded = scriptedModel(() => ({ error: { code: 'MODEL_RATE_LIMITED', message: 'no room', status: 429 } }), {
  name: 'crowded',
})

const agent: StelloAgent = createStelloAgent({
  name: 'patient',
  llm: fallback([crowded, modelOr([() => true, 'Hello from the second model.'])], { after: '1s' }),
})

export default agent
