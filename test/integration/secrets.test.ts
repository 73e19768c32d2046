/**
 * A secret that tools, models and headers meet is told nowhere: not to the model, not in the store, not in Temporal,
 * not in a log.
 */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { replyBy, scriptedModel, startFakeOpenAI } from '../../src/testing/index.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const REDACTED = 'geheim-und-lang'
const BEARER = 'of-the-header-77'
const IN_URL = 'in-the-url-88'
const SECRETS = [REDACTED, BEARER, IN_URL]

/** All that the store holds, and all that Temporal holds of the workflow. */
async function everythingAbout(sessionId: string): Promise<string> {
  const { rows: tables } = await stello.db.pool.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  )
  const stored = []
  for (const { name } of tables) stored.push((await stello.db.pool.query(`select to_jsonb(t) from ${name} t`)).rows)
  const history = await stello.client.temporal.workflow.getHandle(sessionId).fetchHistory()
  const texts: string[] = []
  const collect = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString())
    else if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect)
  }
  collect(history)
  return [JSON.stringify(stored), ...texts].join('\n')
}

it('is cut from what tools throw, return and tell, and from their logs', async () => {
  const args = z.object({})
  const throwing = tool('throwing', 'Throws', args, () => {
    throw new Error(`cannot reach https://me:${IN_URL}@host with ${REDACTED}`)
  })
  const returning = tool('returning', 'Returns', args, (_args, ctx) => {
    ctx.onProgress(`with ${REDACTED}`)
    void ctx.sendToolStatus(ctx.callId, 'DOING', { showTip: REDACTED, params: { key: REDACTED } })
    return { content: [{ type: 'text', text: `the variable is ${REDACTED}` }], details: { env: [REDACTED] } }
  })
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'throwing' }, { name: 'returning' }] }],
      [
        { tool: 'returning' },
        ({ messages }) =>
          messages
            .slice(-2)
            .map(({ content }) => content)
            .join('\n'),
      ],
    ]),
  )
  const session = await stello.session({ llm, redact: [REDACTED], capabilities: { tools: [throwing, returning] } })
  expect(await ask(session, 'go')).toBe(
    'TOOL_EXECUTION_ERROR: tool "throwing" failed: cannot reach https://(secret)@host with (secret)\nthe variable is (secret)',
  )
  const told = await everythingAbout(session.id)
  expect(told).toContain('(secret)')
  for (const secret of SECRETS) expect(told).not.toContain(secret)
})

it('is cut from the pause, the events and the retries when a model quotes it', async () => {
  const fake = await startFakeOpenAI({ script: () => 'hi' })
  try {
    fake.failNext({ status: 503, body: { error: { message: `busy: ${BEARER}` } } })
    fake.failNext({
      status: 400,
      body: { error: { message: `${BEARER} and ${REDACTED} at https://me:${IN_URL}@proxy` } },
    })
    const llm = openai({ model: 'any', baseURL: fake.url, headers: { authorization: `Bearer ${BEARER}` } })
    const session = await stello.session({ llm, redact: [REDACTED] })
    await session.send('hello')
    expect((await eventOf(session, 'session.paused')).data).toMatchObject({
      message: 'model any: 400 (secret) and (secret) at https://(secret)@proxy',
    })
    const told = [await everythingAbout(session.id), ...stello.warnings].join('\n')
    for (const secret of SECRETS) expect(told).not.toContain(secret)
  } finally {
    await fake.close()
  }
})
