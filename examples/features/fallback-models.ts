/**
 * Fallback models: the next one is asked while the first has no room or is away, and the session never notices. Here the first
 * has never any room.
 *
 * Try it: `stello dev examples/features/fallback-models.ts`, then `stello start patient --message "Hello" --wait`.
 */
import { createStelloAgent, fallback, type StelloAgent } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { modelOr } from './model-or.ts'

const crowded = scriptedModel(() => ({ error: { code: 'MODEL_RATE_LIMITED', message: 'no room', status: 429 } }), {
  name: 'crowded',
})

const agent: StelloAgent = createStelloAgent({
  name: 'patient',
  llm: fallback([crowded, modelOr([() => true, 'Hello from the second model.'])], { after: '1s' }),
})

export default agent
