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
const BURST_MS = 5000

it(
  'all of 200 sessions end and none is paused; meanwhile there is at most one request a second',
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
      const sessions = [...alone, ...forks]
      const turns = await Promise.all(sessions.map((session) => session.send(`hello from ${session.id}`)))
      await until('a first refusal', () => Promise.resolve(provider.requests.length > 0))
      const began = provider.requests[0]?.at ?? 0
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS))

      // A busy machine has not begun all of them by then. And the session that asks now does not wait.
      const waiting = await until('all wait', async () => {
        const listed = await stello.client.list({ agent: taskQueue, state: 'waiting' })
        return listed.length === sessions.length && listed
      })
      expect(waiting.every(({ weather }) => weather?.why === '503')).toBe(true)
      provider.away()
      const answers = await Promise.all(turns.map((turn) => turn.result()))
      expect(answers.every(({ text }) => text === 'Hello.')).toBe(true)
      const paused = await stello.db.pool.query(`select session_id from events where type = 'session.paused'`)
      expect(paused.rows).toEqual([])

      const meanwhile = provider.requests.filter(({ at, status }) => status === 503 && at - began > BURST_MS)
      const gaps = meanwhile.slice(1).map(({ at }, n) => at - (meanwhile[n]?.at ?? 0))
      // Waits double from one second on: the probes after 7, 15 and 31 seconds.
      expect(meanwhile.length).toBeGreaterThanOrEqual(3)
      expect(Math.min(...gaps)).toBeGreaterThan(950)

      const served = provider.requests.filter(({ status }) => status === 200)
      expect(served).toHaveLength(sessions.length)
      // The slow start: one, then four, then eight.
      const opened = served[0]?.at ?? 0
      expect(served.filter(({ at }) => at - opened < 90)).toHaveLength(1)
    } finally {
      await provider.close()
    }
  },
)
