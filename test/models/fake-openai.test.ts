/** The fake server alone, over plain HTTP. It is tested together with our client in openai.test.ts. */
import { afterEach, describe, expect, it } from 'vitest'
import { StelloError } from '../../src/core/errors.ts'
import { startFakeOpenAI, type FakeOpenAI, type FakeServerOptions } from '../../src/testing/index.ts'

const open: FakeOpenAI[] = []

async function start(options: FakeServerOptions = { script: () => 'Hello to you.' }): Promise<FakeOpenAI> {
  const fake = await startFakeOpenAI(options)
  open.push(fake)
  return fake
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((fake) => fake.close()))
})

function ask({ url }: FakeOpenAI, body: object = {}, key = 'any'): Promise<Response> {
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'gpt', messages: [{ role: 'user', content: 'hello' }], ...body }),
  })
}

describe('the fake OpenAI server', () => {
  it('answers as a chat completion', async () => {
    const response = await ask(
      await start({ script: [{ toolCalls: [{ name: 'look', id: 'a' }], usage: { inputTokens: 3, outputTokens: 2 } }] }),
    )
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      model: 'gpt',
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            content: null,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
          },
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    })
  })

  it('streams events up to [DONE], with usage only when asked for', async () => {
    const fake = await start()
    const plain = await ask(fake, { stream: true })
    expect(plain.headers.get('content-type')).toBe('text/event-stream')
    const text = await plain.text()
    expect(text).toMatch(/^data: \{.*\n\ndata: \[DONE\]\n\n$/s)
    expect(text).not.toContain('"usage"')
    expect(await (await ask(fake, { stream: true, stream_options: { include_usage: true } })).text()).toContain(
      '"usage"',
    )
  })

  it('serves any model, also one that does not stream', async () => {
    const completion = {
      content: 'Hi',
      toolCalls: [],
      usage: { inputTokens: 1, outputTokens: 1 },
      finishReason: 'stop' as const,
    }
    const fake = await start({ model: { name: 'mute', complete: async () => completion } })
    expect(await (await ask(fake, { stream: true })).text()).toContain('"content":"Hi"')
    expect(await (await fetch(`${fake.url}/models`)).json()).toMatchObject({ data: [{ id: 'mute' }] })
  })

  it('tells an error within a stream in the stream', async () => {
    const fake = await start({
      model: {
        name: 'broken',
        complete: async (_, options) => {
          options?.onDelta?.({ type: 'text', text: 'Hel' })
          throw new StelloError('MODEL_UNAVAILABLE', 'out of memory')
        },
      },
    })
    const response = await ask(fake, { stream: true })
    expect(response.status).toBe(200)
    expect(await response.text()).toMatch(/"Hel".*"error":\{"message":"out of memory"/s)
  })

  it('shows images of the request to the model', async () => {
    const content = [
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ]
    const fake = await start({ script: ({ messages }) => JSON.stringify(messages[0]?.parts?.[1]) })
    const { choices } = (await (await ask(fake, { messages: [{ role: 'user', content }] })).json()) as {
      choices: unknown[]
    }
    expect(choices).toMatchObject([{ message: { content: '{"type":"image","mimeType":"image/png","data":"AAAA"}' } }])
  })

  it('refuses other keys, other paths and broken JSON', async () => {
    const fake = await start({ script: () => 'Hello.', apiKey: 'right' })
    const refused = await ask(fake, {}, 'wrong')
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_api_key' } })
    expect((await ask(fake, {}, 'right')).status).toBe(200)
    expect((await fetch(`${fake.url}/embeddings`)).status).toBe(404)
    expect((await fetch(`${fake.url}/chat/completions`, { method: 'POST', body: '{' })).status).toBe(400)
  })

  it('fails as often as it was told, then answers', async () => {
    const fake = await start()
    fake.failNext({ status: 429, headers: { 'retry-after': '2' }, times: 2 })
    fake.failNext({ status: 502, body: '<html>' })
    const answers = [await ask(fake), await ask(fake), await ask(fake), await ask(fake)]
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 502, 200])
    expect(answers[0]?.headers.get('retry-after')).toBe('2')
    expect(await answers[2]?.text()).toBe('<html>')
  })

  it('breaks off in the middle of an answer, however long it is', async () => {
    const fake = await start()
    for (const afterBytes of [0, 1, 100, 1_000_000]) {
      for (const stream of [false, true]) {
        fake.dropNext({ afterBytes })
        await expect(
          ask(fake, { stream }).then((response) => response.text()),
          `${afterBytes}`,
        ).rejects.toThrow()
      }
    }
    expect((await ask(fake)).status).toBe(200)
  })

  it('answers late when told to', async () => {
    const fake = await start()
    fake.delayNext(30)
    const begin = performance.now()
    await ask(fake)
    expect(performance.now() - begin).toBeGreaterThan(28)
  })

  it('holds requests until they are released', async () => {
    const fake = await start()
    const first = fake.hold()
    const second = fake.hold()
    let answered = 0
    const asked = [ask(fake), ask(fake)].map((answer) => answer.finally(() => answered++))
    await fake.requested(2)
    first.release()
    await fetch(`${fake.url}/models`)
    expect(answered).toBe(0)
    second.release()
    await Promise.all(asked)
    expect(fake.requests.map(({ body }) => body.model)).toEqual(['gpt', 'gpt'])
  })

  it('holds only the requests that fit, and says when there is one', async () => {
    const fake = await start()
    const held = fake.hold(({ body }) => body.messages.some(({ content }) => content === 'wait'))
    await ask(fake)
    const body = JSON.stringify({ model: 'gpt', messages: [{ role: 'user', content: 'wait' }] })
    const waiting = fetch(`${fake.url}/chat/completions`, { method: 'POST', body })
    await held.reached
    await ask(fake)
    held.release()
    expect((await waiting).status).toBe(200)
  })

  it('closes at once although a request waits', async () => {
    const fake = await start()
    fake.hold()
    const refused = expect(ask(fake)).rejects.toThrow()
    await fake.requested(1)
    await fake.close()
    await refused
  })

  it('stops its model when the client is gone', async () => {
    let stopped = (): void => {}
    const gone = new Promise<void>((resolve) => (stopped = resolve))
    const fake = await start({
      model: {
        name: 'slow',
        complete: (_, options) => new Promise(() => options?.signal?.addEventListener('abort', stopped)),
      },
    })
    const abort = new AbortController()
    const answer = fetch(`${fake.url}/chat/completions`, {
      method: 'POST',
      body: '{"messages":[{"role":"user","content":"hello"}]}',
      signal: abort.signal,
    })
    await fake.requested(1)
    abort.abort()
    await expect(answer).rejects.toThrow(/abort/i)
    await gone
  })
})
