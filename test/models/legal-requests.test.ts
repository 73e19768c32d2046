/**
 * The adapters of providers that do not speak chat completions, and fake servers that refuse what these providers
 * refuse.
 */
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import type { Model } from '../../src/core/model.ts'
import { createClaude } from '../../src/models/anthropic/claude.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { startFakeAnthropic, startFakeOpenAI, startFakeResponses, type FakeServer } from '../../src/testing/index.ts'
import { transcript } from '../support/random-transcript.ts'

type Started = { fake: FakeServer; model: Model }

const HELLO: Message = { role: 'user', content: 'hello' }
const script = (): string => 'Yes.'
const open: FakeServer[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((fake) => fake.close()))
})

const ADAPTERS: Record<string, () => Promise<Started>> = {
  'chat completions': async () => {
    const fake = await startFakeOpenAI({ script })
    return { fake, model: openai({ model: 'any', baseURL: fake.url, apiKey: 'k' }) }
  },
  Responses: async () => {
    const fake = await startFakeResponses({ script })
    return { fake, model: openai({ model: 'any', baseURL: fake.url, apiKey: 'k', api: 'responses' }) }
  },
  Messages: async () => {
    const fake = await startFakeAnthropic({ script })
    return { fake, model: createClaude({ model: 'claude-sonnet-5', baseURL: fake.url, apiKey: 'k' }) }
  },
}

describe.each(Object.entries(ADAPTERS))('%s', (_, start) => {
  const started = async (): Promise<Started> => {
    const made = await start()
    open.push(made.fake)
    return made
  }

  it('is never asked with a transcript that it refuses', async () => {
    const { model } = await started()
    await fc.assert(
      fc.asyncProperty(transcript, async (messages) => {
        expect(await model.complete([...messages, HELLO])).toMatchObject({ content: 'Yes.' })
      }),
      { numRuns: 60 },
    )
  })

  it('says which message a refusal means', async () => {
    const { fake, model } = await started()
    const call = { id: 'a', name: 'look', arguments: '{}' }
    const messages: Message[] = [
      { role: 'system', content: 'Be kind.' },
      HELLO,
      { role: 'assistant', content: '' },
      { role: 'assistant', content: 'I look.', toolCalls: [call] },
      { role: 'tool', content: 'the refused one', toolCallId: 'a', name: 'look' },
      { role: 'assistant', content: 'Seen.' },
      HELLO,
    ]
    await model.complete(messages)
    const body = fake.requests[0]?.body as Partial<Record<'input' | 'messages', unknown[]>>
    const index = (body.messages ?? body.input ?? []).findIndex((item) =>
      JSON.stringify(item).includes('the refused one'),
    )
    for (const where of [`messages[${index}]`, `messages.${index}.content`, `input[${index}]`]) {
      fake.failNext({ status: 400, body: { error: { message: `Invalid '${where}'` } } })
      await expect(model.complete(messages)).rejects.toMatchObject({ code: 'MODEL_REFUSED_REQUEST', behind: 2 })
    }
  })
})
