/**
 * A `contextFn` that asks models: each answer is paid once, and the session waits for a provider as it does between two
 * rounds.
 */
import { describe, expect, it } from 'vitest'
import { ForkProfileRegistryImpl, type ForkProfile } from '../../src/agent/profile.ts'
import { StelloError } from '../../src/core/errors.ts'
import type { Message } from '../../src/core/message.ts'
import type { Model } from '../../src/core/model.ts'
import { RetryableError } from '../../src/core/retryable-error.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { ask, eventOf, useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello()

const profiles = (us: ForkProfile): ForkProfileRegistryImpl => new ForkProfileRegistryImpl().register('us', us)

/** The model of the sessions. It forks when it is told to, and then reads the result. */
const main = (): ScriptedModel =>
  scriptedModel(
    replyBy([
      ['fork', { toolCalls: [{ name: 'stello_create_session', arguments: { label: 'child', profile: 'us' } }] }],
      [{ tool: 'stello_create_session' }, ({ messages }) => messages.at(-1)?.content ?? ''],
      [() => true, 'hi'],
    ]),
  )

/** Compresses in two questions. It is written for another runtime and knows nothing of this one. */
const compressing =
  (llm: Pick<Model, 'complete'>): NonNullable<ForkProfile['contextFn']> =>
  async (parentRecords) => {
    const told = parentRecords.map(({ role, content }) => `${role}: ${content}`).join('\n')
    const question = (what: string): Message[] => [
      { role: 'system', content: what },
      { role: 'user', content: told },
    ]
    const first = await llm.complete(question('summarise'))
    const second = await llm.complete(question('shorten'))
    return [{ role: 'assistant', content: `${first.content} ${second.content}` }]
  }

/** Answers questions about summaries. The second question fails that many times. */
function summariser(failures: number, error = new StelloError('MODEL_UNAVAILABLE', 'away', { retryAfterMs: 50 })) {
  let left = failures
  return scriptedModel(
    ({ messages }) => {
      const what = messages[0]?.content ?? ''
      if (what === 'shorten' && left-- > 0) return { error }
      return `${what}: done`
    },
    { name: 'small' },
  )
}

const asked = ({ calls }: ScriptedModel): string[] => calls.map(({ messages }) => messages[0]?.content ?? '')

async function childOf(session: SessionHandle): Promise<SessionHandle> {
  const [child] = (await session.tree()).children
  return stello.client.session(child?.id ?? '')
}

/** The messages that a session begins with. */
const firstRecords = async ({ id }: SessionHandle): Promise<string[]> =>
  (
    await stello.db.pool.query<{ content: string }>(
      `select message->>'content' as content from records where session_id = $1 order by seq`,
      [id],
    )
  ).rows.map(({ content }) => content)

const usageOf = async (session: SessionHandle): Promise<unknown[]> =>
  (
    await stello.db.pool.query(
      `select model, count(*)::int from usage where root_id = $1 and model = 'small' group by model`,
      [session.id],
    )
  ).rows

async function start(us: ForkProfile, over: Partial<TestAgent> = {}): Promise<SessionHandle> {
  return stello.session({ llm: main(), capabilities: { profiles: profiles(us) }, ...over })
}

describe('the example of the seed, as it is written', () => {
  it('asks each question once, although its model is away for a while', async () => {
    const small = summariser(2)
    const session = await start({ contextFn: compressing(small) })
    await ask(session, 'fork')
    const child = await childOf(session)
    expect(await firstRecords(child)).toEqual(['summarise: done shorten: done'])
    expect(asked(small)).toEqual(['summarise', 'shorten', 'shorten', 'shorten'])
    expect(await usageOf(session)).toEqual([{ model: 'small', count: 2 }])
  })

  it('pauses the session when its model is away for long, and goes on with the question that is open', async () => {
    const small = summariser(1)
    const session = await start(
      { contextFn: compressing(small) },
      { retries: { model: { attempts: 1 } }, autoResume: false },
    )
    const turn = await session.send('fork')
    const paused = await eventOf(session, 'session.paused')
    expect(paused.data).toMatchObject({ reason: 'model_error', clears: 'weather', message: 'away' })
    await session.resume()
    await turn.result()
    expect(asked(small)).toEqual(['summarise', 'shorten', 'shorten'])
    expect(await usageOf(session)).toEqual([{ model: 'small', count: 2 }])
  })

  it('goes on by itself in a client’s fork, too', async () => {
    const small = summariser(1)
    const session = await start(
      { contextFn: compressing(small) },
      { retries: { model: { attempts: 1 } }, autoResume: { first: 100 } },
    )
    await ask(session, 'hello')
    const fork = await session.fork({ label: 'aside', profile: 'us' })
    expect(await ask(fork, 'hello')).toBe('hi')
    expect(asked(small)).toEqual(['summarise', 'shorten', 'shorten'])
    expect((await firstRecords(fork))[0]).toBe('summarise: done shorten: done')
    expect(await usageOf(session)).toEqual([{ model: 'small', count: 2 }])
  })

  it('pauses for a key that was refused', async () => {
    const small = summariser(1, new StelloError('MODEL_AUTH', 'who are you?'))
    const session = await start({ contextFn: compressing(small) })
    const turn = await session.send('fork')
    expect((await eventOf(session, 'session.paused')).data).toMatchObject({ clears: 'keys' })
    await session.resume()
    await turn.result()
    expect(asked(small)).toEqual(['summarise', 'shorten', 'shorten'])
  })

  it('fails when its model refuses for good: the model of the session reads why', async () => {
    const small = summariser(9, new StelloError('MODEL_CONTEXT_TOO_LONG', 'too long'))
    const session = await start({ contextFn: compressing(small) })
    expect(await ask(session, 'fork')).toBe('TOOL_EXECUTION_ERROR: contextFn of profile "us" failed: too long')
    expect(asked(small)).toEqual(['summarise', 'shorten'])
  })
})

describe('context.ask', () => {
  it('keeps the answers of a model of the author’s own', async () => {
    let calls = 0
    const own = {
      name: 'small',
      async complete(messages: Message[]) {
        if (++calls === 2) throw new StelloError('MODEL_UNAVAILABLE', 'away', { retryAfterMs: 50 })
        const usage = { inputTokens: 1, outputTokens: 1 }
        return { content: `to ${messages[0]?.content}`, toolCalls: [], usage, finishReason: 'stop' as const }
      },
    }
    const session = await start({
      async contextFn(_records, context) {
        const asking = (content: string) => context.ask([{ role: 'user', content }], { model: own })
        const answers = [await asking('one'), await asking('two')]
        return answers.map(({ content }) => ({ role: 'assistant', content }))
      },
    })
    await ask(session, 'fork')
    expect(await firstRecords(await childOf(session))).toEqual(['to one', 'to two'])
    expect(calls).toBe(3)
    expect(await usageOf(session)).toEqual([{ model: 'small', count: 2 }])
  })

  it('asks the model of the child, tells of the parent, and lets the function handle a refusal', async () => {
    const small = summariser(1, new StelloError('MODEL_CONTEXT_TOO_LONG', 'too long'))
    const session = await start({
      llm: small,
      async contextFn(_records, { ask: asking, parent }) {
        const answer = await asking([{ role: 'system', content: 'shorten' }]).catch((error: Error) => error.message)
        return [{ role: 'assistant', content: `${parent.sessionId}: ${typeof answer === 'string' ? answer : ''}` }]
      },
    })
    await ask(session, 'fork')
    const [record] = await firstRecords(await childOf(session))
    expect(record).toBe(`${session.id}: too long`)
  })

  it('keeps both answers when the same question is asked twice', async () => {
    let n = 0
    const small = scriptedModel(() => `answer ${++n}`, { name: 'small' })
    const session = await start({
      llm: small,
      async contextFn(_records, { ask: asking }) {
        const question: Message[] = [{ role: 'user', content: 'a word' }]
        const answers = await Promise.all([asking(question), asking(question)])
        return [{ role: 'assistant', content: String(new Set(answers.map(({ content }) => content)).size) }]
      },
    })
    await ask(session, 'fork')
    expect((await firstRecords(await childOf(session)))[0]).toBe('2')
  })
})

describe('a contextFn that throws', () => {
  it.each([
    ['three times', {}, 3],
    ['as often as the profile says', { retries: { tools: { attempts: 2, backoff: 10 } } }, 2],
  ])('is tried %s; then the model reads why', async (_how, settings, attempts) => {
    let tried = 0
    const contextFn = (): never => {
      tried++
      throw new Error('no')
    }
    const session = await start({ ...settings, contextFn })
    expect(await ask(session, 'fork')).toBe('TOOL_EXECUTION_ERROR: contextFn of profile "us" failed: no')
    expect(tried).toBe(attempts)
  })

  it('with a RetryableError is tried again after the wait that the error names', async () => {
    let tried = 0
    const session = await start({
      contextFn() {
        if (++tried === 1) throw new RetryableError('not yet', { retryAfter: 10 })
        return [{ role: 'assistant', content: 'now' }]
      },
    })
    await ask(session, 'fork')
    expect([tried, (await firstRecords(await childOf(session)))[0]]).toEqual([2, 'now'])
  })
})
