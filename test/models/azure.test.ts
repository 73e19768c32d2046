/** Azure OpenAI, over real HTTP: its addresses and its header are not OpenAI's. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { azure, type AzureOptions } from '../../src/models/openai/azure.ts'
import { chunk, rawProvider, sse, type RawAnswer, type RawProvider, type RawRequest } from '../support/raw-provider.ts'

const HELLO = [{ role: 'user' as const, content: 'hello' }]
const json = (body: object, status = 200): RawAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: [JSON.stringify(body)],
})
const HI = json({ choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }] })

const start = async (answer: RawAnswer | ((request: RawRequest) => RawAnswer) = HI): Promise<RawProvider> => {
  const { url, requests } = await rawProvider(answer)
  return { url: url.replace('/v1', ''), requests }
}

beforeEach(() => {
  for (const name of ['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_API_KEY', 'OPENAI_API_VERSION', 'OPENAI_API_KEY']) {
    vi.stubEnv(name, undefined)
  }
})

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('azure', () => {
  it('names the deployment in the path and the version in the query, and has its own header for the key', async () => {
    const { url, requests } = await start()
    const model = azure({ model: 'my dep', endpoint: `${url}/`, apiVersion: '2024-10-21', apiKey: 'k' })
    expect(await model.complete(HELLO)).toMatchObject({ content: 'Hi.' })
    expect(requests[0]?.path).toBe('/openai/deployments/my%20dep/chat/completions?api-version=2024-10-21')
    expect(requests[0]?.headers).toMatchObject({ 'api-key': 'k' })
    expect(requests[0]?.headers).not.toHaveProperty('authorization')
    expect(model.provider).toBe('azure')
  })

  it('takes the v1 API where no version is given, Responses unless chat completions are asked for', async () => {
    const { url, requests } = await start()
    const options: AzureOptions = { model: 'dep', endpoint: url, apiKey: 'k' }
    await azure({ ...options, api: 'chat' }).complete(HELLO)
    await azure(options)
      .complete(HELLO)
      .catch(() => undefined)
    expect(requests.map(({ path }) => path)).toEqual(['/openai/v1/chat/completions', '/openai/v1/responses'])
    expect(requests[1]?.headers).toMatchObject({ 'api-key': 'k' })
  })

  it('reads what is not stated from the environment, endpoint and key when it is called', async () => {
    vi.stubEnv('OPENAI_API_VERSION', '2025-01-01-preview')
    const model = azure({ model: 'dep' })
    const { url, requests } = await start()
    await expect(model.complete(HELLO)).rejects.toMatchObject({
      code: 'MODEL_REFUSED_REQUEST',
      hint: expect.stringContaining('AZURE_OPENAI_ENDPOINT') as string,
    })
    vi.stubEnv('AZURE_OPENAI_ENDPOINT', url)
    await expect(model.complete(HELLO)).rejects.toMatchObject({
      code: 'MODEL_AUTH',
      hint: expect.stringContaining('AZURE_OPENAI_API_KEY') as string,
    })
    vi.stubEnv('AZURE_OPENAI_API_KEY', 'from-env')
    expect(await model.complete(HELLO)).toMatchObject({ content: 'Hi.' })
    expect(requests[0]).toMatchObject({
      path: '/openai/deployments/dep/chat/completions?api-version=2025-01-01-preview',
      headers: { 'api-key': 'from-env' },
    })
  })

  it('takes a token of Entra ID instead of a key', async () => {
    const { url, requests } = await start()
    const headers = { authorization: 'Bearer ey-token' }
    await azure({ model: 'dep', endpoint: url, apiVersion: '2024-10-21', headers }).complete(HELLO)
    expect(requests[0]?.headers).toMatchObject(headers)
    expect(requests[0]?.headers).not.toHaveProperty('api-key')
  })

  it('learns the name of the limit from its refusal, and reads chunks that have no choice', async () => {
    const filtered = { id: '', object: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] }
    const refusal =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    const { url, requests } = await start(({ body }) =>
      'max_tokens' in body
        ? json({ error: { message: refusal, code: 'unsupported_parameter', param: 'max_tokens' } }, 400)
        : sse(
            filtered,
            chunk({ role: 'assistant', content: '' }),
            chunk({ content: 'Hi.' }),
            chunk({}, 'stop'),
            '[DONE]',
          ),
    )
    const model = azure({ model: 'dep', endpoint: url, apiVersion: '2024-10-21', apiKey: 'k', maxTokens: 9 })
    expect(await model.complete(HELLO, { onDelta: () => undefined })).toMatchObject({ content: 'Hi.' })
    expect(requests.map(({ body }) => body['max_completion_tokens'])).toEqual([undefined, 9])
  })

  it('does not repeat its key in an error', async () => {
    const { url } = await start(json({ error: { code: '401', message: 'Access denied for key-0123456789' } }, 401))
    const model = azure({ model: 'dep', endpoint: url, apiVersion: '2024-10-21', apiKey: 'key-0123456789' })
    await expect(model.complete(HELLO)).rejects.toMatchObject({
      code: 'MODEL_AUTH',
      message: 'model dep: 401 Access denied for (secret)',
    })
  })

  it('refuses an endpoint that is no text', () => {
    expect(() => azure({ model: 'dep', endpoint: 3 as unknown as string })).toThrow(/endpoint must be text/)
  })
})
