/** A conversation longer than the window of its model: with a real worker, against a provider that refuses long prompts. */
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { StelloEvent } from '../../src/client/index.ts'
import { StelloError } from '../../src/core/errors.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { startFakeOpenAI, type FakeOpenAI, type ScriptFunction } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()

const SUMMARY = 'The user counts.'
const LONG = 'with so many words that every message takes its room in the window of the model '.repeat(5)

/** Refuses prompts of more than that many tokens, and counts what it reads. */
async function startNarrow(window: number, answer: ScriptFunction = () => 'counted'): Promise<FakeOpenAI> {
  const server = await startFakeOpenAI({
    script(request) {
      const tokens = Math.ceil(JSON.stringify(request.messages).length / 4)
      if (tokens > window) throw new StelloError('MODEL_CONTEXT_TOO_LONG', 'maximum context length exceeded')
      const usage = { inputTokens: tokens, outputTokens: 5 }
      if (isSummary(request.messages[0]?.content)) return { content: SUMMARY, usage }
      const reply = answer(request)
      return typeof reply === 'string' ? { content: reply, usage } : reply
    },
  })
  onTestFinished(() => server.close())
  return server
}

function isSummary(system: unknown): boolean {
  return typeof system === 'string' && system.startsWith('You write the memory')
}

const narrow = (server: FakeOpenAI): ReturnType<typeof openai> =>
  openai({ model: 'narrow', baseURL: server.url, apiKey: 'test', api: 'chat' } as Parameters<typeof openai>[0])
const summaries = (server: FakeOpenAI): number =>
  server.requests.filter(({ body }) => isSummary((body as { messages: { content?: unknown }[] }).messages[0]?.content))
    .length

it('goes on for as long as anybody talks, although nobody knows the window', async () => {
  const server = await startNarrow(2500)
  const session = await stello.session({ llm: narrow(server), systemPrompt: 'You count.' })
  for (let n = 1; n <= 40; n++) expect(await ask(session, `${n} ${LONG}`)).toBe('counted')
  expect(summaries(server)).toBeGreaterThan(1)
  expect((await session.state()).state).toBe('idle')
  expect(await session.transcript()).toHaveLength(80)
  const summary = await session.summary()
  expect(summary).toMatchObject({ text: SUMMARY, cut: false })
  expect(summary?.messages).toBeGreaterThan(40)
  const { totals } = await session.stats()
  expect(totals.modelCalls).toBe(40 + summaries(server))
})

it('knows the window: no prompt is refused, and each summary is told and counted', async () => {
  const server = await startNarrow(2500)
  const session = await stello.session({ llm: narrow(server), compaction: { window: 2500 } })
  const told: StelloEvent[] = []
  for (let n = 1; n <= 25; n++) expect(await ask(session, `${n} ${LONG}`)).toBe('counted')
  for await (const event of session.watch({ from: '0' })) {
    if (event.type === 'transcript.compacted') told.push(event)
    if (event.type === 'turn.completed' && event.data.turn === 25) break
  }
  expect(server.requests).toHaveLength(25 + summaries(server))
  expect(told).toHaveLength(summaries(server))
  expect(told[0]).toMatchObject({ data: { why: 'full', cut: false, text: SUMMARY, usage: { outputTokens: 5 } } })
})

it('one turn may be longer than the window: its finished rounds are summarised, and its question stays', async () => {
  const server = await startNarrow(3000, ({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'tool' && last.content.startsWith('page 20 ')
      ? 'read it all'
      : { toolCalls: [{ name: 'next_page', arguments: {} }] }
  })
  let page = 0
  const nextPage = tool('next_page', 'Reads on', z.object({}), () => `page ${++page} ${LONG.repeat(2)}`)
  const session = await stello.session({
    llm: narrow(server),
    maxToolRounds: 100,
    compaction: { window: 3000 },
    capabilities: { tools: [nextPage] },
  })
  expect(await ask(session, 'Read all twenty pages.')).toBe('read it all')
  expect(page).toBe(20)
  for (const { body } of server.requests) expect(JSON.stringify(body)).toContain('Read all twenty pages.')
})

it('a person may ask for a summary between turns, and the next prompt is then shorter', async () => {
  const server = await startNarrow(100_000)
  const session = await stello.session({ llm: narrow(server) })
  for (let n = 1; n <= 10; n++) await ask(session, `${n} ${LONG}`)
  await session.compact()
  await eventOf(session, 'transcript.compacted')
  await ask(session, 'and now?')
  const last = server.requests.at(-1)?.body as { messages: { content: string }[] }
  expect(last.messages.length).toBeLessThan(12)
  expect(last.messages[0]?.content).toContain(SUMMARY)
})

it('a fork inherits the summary and pays nothing', async () => {
  const server = await startNarrow(2500)
  const session = await stello.session({ llm: narrow(server), compaction: { window: 2500 } })
  for (let n = 1; n <= 22; n++) await ask(session, `${n} ${LONG}`)
  const paid = summaries(server)
  expect(paid).toBeGreaterThan(0)
  const fork = await session.fork({ label: 'goes on', context: 'inherit' })
  expect(await ask(fork, 'hello')).toBe('counted')
  expect(summaries(server)).toBe(paid)
  expect(await fork.transcript()).toHaveLength(46)
})
