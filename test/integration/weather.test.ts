/** A provider is away for a while, over real HTTP. Sessions wait, show that they wait, and go on by themselves. */
import { afterEach, describe, expect, inject, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { fallback } from '../../src/models/fallback.ts'
import { openai } from '../../src/models/openai/openai.ts'
import type { Model } from '../../src/core/model.ts'
import { quietPort } from '../support/quiet-port.ts'
import { scrape } from '../support/scrape.ts'
import { ask, eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'
import { historyOf, viewOf } from '../support/settled.ts'
import { until } from '../support/until.ts'
import { startWeatheredProvider, type WeatheredProvider } from '../support/weathered-provider.ts'

const stello = useStello()
const providers: WeatheredProvider[] = []
afterEach(() => Promise.all(providers.splice(0).map((provider) => provider.close())))

async function start(answer: string): Promise<WeatheredProvider> {
  const provider = await startWeatheredProvider({ script: () => answer })
  providers.push(provider)
  return provider
}

const modelOf = ({ url }: WeatheredProvider, model = 'm'): Model => openai({ model, baseURL: url, apiKey: 'any' })

const typesOf = async (session: SessionHandle): Promise<string[]> =>
  (await eventsUntil(session, ({ type }) => type === 'turn.completed')).map(({ type }) => type)

describe('A provider that is away', () => {
  it('is waited for: the session shows it everywhere, is never paused, and goes on when it is back', async () => {
    const provider = await start('Hello.')
    provider.away({ status: 503 })
    const metricsPort = await quietPort()
    const session = await stello.session({ name: 'weathered', llm: modelOf(provider) }, { metricsPort })
    const turn = await session.send('Hi')
    const told = await eventOf(session, 'model.waiting')
    expect(told.data).toMatchObject({ turn: 1, round: 0, why: '503' })
    const { provider: who } = told.data
    const summary = await until('the session waits for its provider', async () => {
      const state = await session.state()
      return state.weather && state
    })
    expect(summary).toMatchObject({ state: 'waiting', weather: { provider: who, why: '503' } })
    expect(summary.weather?.since.getTime()).toBeLessThan(summary.weather?.nextTry.getTime() ?? 0)
    expect(await stello.client.list({ state: 'waiting', ids: [session.id] })).toHaveLength(1)
    await viewOf(stello.client, session, ({ status }) => status === 'waiting')
    const workflow = stello.client.temporal.workflow.getHandle(session.id)
    const details = await workflow.query<{ currentDetails: string }>('__temporal_workflow_metadata')
    expect(details.currentDetails).toContain(`**Waits for ${who}** since 20`)
    const labels = `{agent="weathered",provider="${who}"}`
    const metrics = (values: Record<string, number>): Promise<void> =>
      expect.poll(() => scrape(metricsPort), { timeout: 30_000 }).toMatchObject(values)
    await metrics({ [`stello_provider_away${labels}`]: 1 })
    const { events } = await historyOf(stello.client, session.id)
    const asked = provider.requests.length
    await until('one more try', () => Promise.resolve(provider.requests.length > asked))
    expect((await historyOf(stello.client, session.id)).events).toBe(events)

    provider.away()
    expect((await turn.result()).text).toBe('Hello.')
    expect(await typesOf(session)).toEqual(['turn.started', 'model.waiting', 'message.completed', 'turn.completed'])
    expect((await session.state()).weather).toBeUndefined()
    expect(stello.warnings).toEqual([expect.stringMatching(`^provider ${who} is away: 503`)])
    // Several workers of one process write the same metrics, and each has an outage of its own.
    if ((inject('workersPerAgent') ?? 1) === 1)
      await metrics({ [`stello_provider_away${labels}`]: 0, [`stello_provider_outages_total${labels}`]: 1 })
    expect(await ask(session, 'again')).toBe('Hello.')
  })

  it('is asked again when the wait that it has named is over, and not before', async () => {
    const provider = await start('Hello.')
    provider.away({ status: 429, headers: { 'retry-after': '3' } })
    const { taskQueue } = await stello.work({ llm: modelOf(provider) })
    const sessions = await Promise.all(
      Array.from({ length: 5 }, () => stello.client.createSession({ agent: taskQueue })),
    )
    const turns = await Promise.all(sessions.map((session) => session.send('Hi')))
    await until('a first request', () => Promise.resolve(provider.requests.length > 0))
    await Promise.all(
      turns.map(async (turn, n) => until('all wait', async () => (await sessions[n]?.state())?.weather)),
    )
    const last = provider.requests.at(-1)?.at ?? 0
    const before = provider.requests.length
    provider.away()
    await Promise.all(turns.map((turn) => turn.result()))
    // The server that waits has another clock.
    expect((provider.requests[before]?.at ?? 0) - last).toBeGreaterThan(2900)
  })

  it('is not waited for by a session that is cancelled', async () => {
    const provider = await start('Hello.')
    provider.away({ status: 503, headers: { 'retry-after': '25' } })
    const session = await stello.session({ llm: modelOf(provider) })
    const turn = await session.send('Hi')
    await until('the session waits', async () => (await session.state()).weather)
    await session.cancelTurn()
    expect((await turn.result()).stopReason).toBe('cancelled')
    expect(provider.requests).toHaveLength(1)
    expect((await session.transcript()).map(({ content }) => content)).toEqual(['Hi'])
  })

  it('for longer than retryFor pauses the session, and resume asks again', async () => {
    const provider = await start('Hello.')
    provider.away({ status: 503 })
    const session = await stello.session({ llm: modelOf(provider), retryFor: '3s' })
    const turn = await session.send('Hi')
    expect((await eventOf(session, 'session.paused')).data).toMatchObject({ reason: 'model_error' })
    expect((await session.state()).weather).toBeUndefined()
    provider.away()
    await session.resume()
    expect((await turn.result()).text).toBe('Hello.')
  })
})

describe('With a fallback', () => {
  it('another model answers while the first is away, the record says which, and the first answers when it is back', async () => {
    const [first, second] = [await start('From the first.'), await start('From the second.')]
    const llm = fallback([modelOf(first, 'one'), modelOf(second, 'two')], { after: '2s' })
    const session = await stello.session({ llm })
    expect(await ask(session, 'fine?')).toBe('From the first.')
    first.away({ status: 500 })
    expect(await ask(session, 'broken?')).toBe('From the second.')
    first.away({ status: 529 })
    expect(await ask(session, 'busy?')).toBe('From the second.')
    first.away()
    await until('the first answers again', async () => (await ask(session, 'back?')) === 'From the first.')
    const answers = (await session.transcript()).filter(({ role }) => role === 'assistant')
    for (const { content, model } of answers) expect(model).toBe(content === 'From the first.' ? 'one' : 'two')
    const usage = await stello.db.pool.query('select distinct model from usage where session_id = $1 order by 1', [
      session.id,
    ])
    expect(usage.rows).toEqual([{ model: 'one' }, { model: 'two' }])
    expect(await typesOf(session)).not.toContain('session.paused')
  })

  it('an account without credit leads to the next model; without a next one, and with a wrong key, the session pauses', async () => {
    const [first, second] = [await start('From the first.'), await start('From the second.')]
    first.away({ status: 429, code: 'insufficient_quota' })
    const llm = fallback([modelOf(first, 'one'), modelOf(second, 'two')])
    const session = await stello.session({ llm })
    expect(await ask(session, 'credit?')).toBe('From the second.')
    expect(await ask(session, 'still?')).toBe('From the second.')
    expect(first.requests).toHaveLength(1)
    second.away({ status: 402 })
    await session.send('and now?')
    expect((await eventOf(session, 'session.paused')).data).toMatchObject({
      message: expect.stringMatching(/^model (one|two): /) as string,
      hint: expect.stringMatching('billing') as string,
    })

    const [refusing, other] = [await start(''), await start('')]
    refusing.away({ status: 401 })
    const keyless = await stello.session({ llm: fallback([modelOf(refusing, 'one'), modelOf(other, 'two')]) })
    await keyless.send('key?')
    await eventOf(keyless, 'session.paused')
    expect(other.requests).toHaveLength(0)
  })
})
