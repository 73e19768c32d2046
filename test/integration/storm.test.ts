/** Two hundred sessions and a provider that is away for a minute. What they did is counted at the server. */
import { expect, it } from 'vitest'
import { openai } from '../../src/models/openai/openai.ts'
import { useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'
import { startWeatheredProvider } from '../support/weathered-provider.ts'

const stello = useStello()
const AWAY_MS = 60_000
/** Half of the sessions belong to one tree. Each of the others is a tree of its own. */
const ROOTS = 100
/** The time in which requests may still arrive that were under way when the first one was refused. */
const BURST_MS = 2000

it(
  'all of 200 sessions end and none is paused; meanwhile there is at most one request a second; then the trees take turns',
  { timeout: 300_000 },
  async () => {
    const provider = await startWeatheredProvider({ script: () => 'Hello.' }, { answerAfterMs: 100 })
    try {
      provider.away({ status: 503 })
      const llm = openai({ model: 'm', baseURL: provider.url, apiKey: 'any' })
      const { taskQueue } = await stello.work({ llm, maxChildren: ROOTS }, { concurrency: { models: 300 } })
      const alone = await Promise.all(
        Array.from({ length: ROOTS }, () => stello.client.createSession({ agent: taskQueue })),
      )
      const [large] = alone
      if (!large) throw new Error('no sessions')
      const forks = await Promise.all(
        Array.from({ length: ROOTS }, () => large.fork({ label: 'fork', context: 'none' })),
      )
      const sessions = [
        ...alone.map((session) => ({ session, of: 'alone' })),
        ...forks.map((session) => ({ session, of: 'large' })),
      ]
      const turns = await Promise.all(sessions.map(({ session, of }) => session.send(`${of} ${session.id}`)))
      await until('a first refusal', () => Promise.resolve(provider.requests.length > 0))
      const began = provider.requests[0]?.at ?? 0
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS))

      const waiting = await stello.client.list({ agent: taskQueue, state: 'waiting' })
      expect(waiting.length).toBe(sessions.length)
      expect(waiting.every(({ weather }) => weather?.why === '503')).toBe(true)
      provider.away()
      const answers = await Promise.all(turns.map((turn) => turn.result()))
      expect(answers.every(({ text }) => text === 'Hello.')).toBe(true)
      const paused = await stello.db.pool.query(`select session_id from events where type = 'session.paused'`)
      expect(paused.rows).toEqual([])

      const meanwhile = provider.requests.filter(({ at, status }) => status === 503 && at - began > BURST_MS)
      const gaps = meanwhile.slice(1).map(({ at }, n) => at - (meanwhile[n]?.at ?? 0))
      expect(meanwhile.length).toBeGreaterThan(3)
      expect(Math.min(...gaps)).toBeGreaterThan(950)

      const served = provider.requests.filter(({ status }) => status === 200)
      expect(served).toHaveLength(sessions.length)
      // In order of arrival, half of the first ones would belong to the large tree. On a busy machine some sessions come
      // back to the line only when it is already open, and those take no turns.
      const first = served.slice(0, 60).filter(({ message }) => message.startsWith('large'))
      expect(first.length).toBeLessThanOrEqual(15)
      // The slow start: one, then four, then eight.
      const opened = served[0]?.at ?? 0
      expect(served.filter(({ at }) => at - opened < 90)).toHaveLength(1)
    } finally {
      await provider.close()
    }
  },
)
