/**
 * Reasoning of OpenAI's models, in real sessions. The server keeps OpenAI's rules: it refuses each request in which a
 * call lacks its reasoning. So every answer here shows that the reasoning came back.
 */
import { randomBytes } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import type { Model } from '../../src/core/model.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { replyBy, scriptedModel, startFakeResponses, type FakeResponses } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { temporalWith } from '../support/configured.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { runIdsOf } from '../support/runs.ts'
import { ask, useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello(() => temporalWith('limit.historyCount.suggestContinueAsNew=40'))
const fakes: FakeResponses[] = []
const gates: Gate[] = []

afterEach(async () => {
  for (const gate of gates.splice(0)) gate.open()
  await Promise.all(fakes.splice(0).map((fake) => fake.close()))
})

/** Each question leads to a call, each result to an answer. */
const LOOKS = replyBy([
  [{ tool: 'look' }, 'Seen.'],
  [() => true, { reasoning: 'I should look.', toolCalls: [{ name: 'look' }] }],
])

async function start(model: Model = scriptedModel(LOOKS)): Promise<FakeResponses> {
  const fake = await startFakeResponses({ model })
  fakes.push(fake)
  return fake
}

function gate(): Gate {
  const made = createGate()
  gates.push(made)
  return made
}

/** A new one for each worker, because it may know only what the store knows. */
function agentOf(fake: FakeResponses, look: () => string | Promise<string> = () => 'a cat'): TestAgent {
  return {
    llm: openai({ model: 'gpt-5.4', baseURL: fake.url, api: 'responses', reasoning: { summary: 'auto' } }),
    capabilities: { tools: [tool('look', 'Looks', z.object({}), look, { readOnlyHint: true })] },
  }
}

const reasoningIn = (fake: FakeResponses, at: number): string[] => {
  const input = fake.requests.at(at)?.body.input
  return Array.isArray(input) ? input.flatMap((item) => (item.type === 'reasoning' ? [item.id] : [])) : []
}

async function onOtherWorker(agent: TestAgent, next: TestAgent, meanwhile: (session: SessionHandle) => Promise<void>) {
  const name = `thinks-${randomBytes(4).toString('hex')}`
  const first = await stello.work({ ...agent, name })
  const session = await stello.client.createSession({ agent: name })
  const turn = await session.send('go')
  await meanwhile(session)
  await first.stop()
  await stello.work({ ...next, name })
  return { session, result: await turn.result() }
}

it('comes back after its worker is gone, over continue-as-new, and in a fork that inherits it', async () => {
  const fake = await start()
  const looking = gate()
  const slow = agentOf(fake, () => looking.pass().then(() => 'a cat'))
  const { session, result } = await onOtherWorker(slow, agentOf(fake), () => looking.reached())
  expect(result.text).toBe('Seen.')
  expect(reasoningIn(fake, -1)).toEqual(['rs_1'])

  while ((await runIdsOf(stello, session)).length < 2) expect(await ask(session, 'again')).toBe('Seen.')
  expect(await ask(session, 'behind it')).toBe('Seen.')
  const all = reasoningIn(fake, -1)
  expect(all.length).toBeGreaterThan(3)

  const child = await session.fork({ label: 'child', context: 'inherit' })
  expect(await ask(child, 'and you')).toBe('Seen.')
  expect(reasoningIn(fake, -1).slice(0, all.length)).toEqual(all)
  expect(new Set(fake.requests.map(({ body }) => body.prompt_cache_key))).toEqual(new Set([session.id]))
}, 180_000)

it('whose worker was gone before its end is made again, and only the second one stays', async () => {
  const thinking = gate()
  const quick = scriptedModel(LOOKS)
  const fake = await start({
    name: 'slow',
    async complete(messages, options = {}) {
      options.onDelta?.({ type: 'reasoning', text: 'I should look.' })
      if (fake.requests.length === 1) await thinking.pass()
      return quick.complete(messages, options)
    },
  })
  const { session, result } = await onOtherWorker(agentOf(fake), agentOf(fake), () => thinking.reached())
  expect(result.text).toBe('Seen.')
  expect(reasoningIn(fake, -1)).toEqual(['rs_2'])
  const kept = (await session.transcript()).map(({ provider }) => JSON.stringify(provider ?? null))
  expect(kept.join()).toMatch(/rs_2/)
  expect(kept.join()).not.toMatch(/rs_1/)
}, 120_000)

it('of one model stays with that model when the session goes on with another', async () => {
  const fake = await start()
  const name = `thinks-${randomBytes(4).toString('hex')}`
  const first = await stello.work({ ...agentOf(fake), name })
  const session = await stello.client.createSession({ agent: name })
  expect(await ask(session, 'go')).toBe('Seen.')
  await first.stop()
  await stello.work({ ...agentOf(fake), llm: openai({ model: 'gpt-6', baseURL: fake.url, api: 'responses' }), name })
  expect(await ask(session, 'go on')).toBe('Seen.')
  expect(reasoningIn(fake, -2)).toEqual([])
  expect(reasoningIn(fake, -1)).toEqual(['rs_3'])
}, 120_000)
