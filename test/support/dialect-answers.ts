/** What our client makes of a server's answer, over real HTTP. */
import type { Message } from '../../src/core/message.ts'
import type { Completion, ModelDelta } from '../../src/core/model.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { rawProvider, type RawAnswer } from './raw-provider.ts'

export type Told = Completion & { deltas: ModelDelta[] }

export const HELLO: Message[] = [{ role: 'user', content: 'hello' }]

export async function streamed(answer: RawAnswer): Promise<Told> {
  const { url } = await rawProvider(answer)
  const deltas: ModelDelta[] = []
  const model = openai({ model: 'any', baseURL: url, apiKey: 'k' })
  return { ...(await model.complete(HELLO, { onDelta: (delta) => deltas.push(delta) })), deltas }
}

export async function asOne(message: object, finish: string | null = 'stop', more: object = {}): Promise<Completion> {
  const body = JSON.stringify({ id: 'c', choices: [{ index: 0, message, finish_reason: finish }], ...more })
  const { url } = await rawProvider({ headers: { 'content-type': 'application/json' }, body: [body] })
  return openai({ model: 'any', baseURL: url, apiKey: 'k' }).complete(HELLO)
}
