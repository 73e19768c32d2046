/** A fake provider that speaks OpenAI's chat completions. */
import { readMessages, readTools, type ChatRequest } from './chat-request.ts'
import { errorBody, lastChunks, toChatCompletion, toChunk } from './chat-response.ts'
import type { Protocol } from './fake-protocol.ts'
import { startFakeServer, type FakeServer, type FakeServerOptions } from './fake-server.ts'

/** A fake provider that speaks chat completions. */
export type FakeOpenAI = FakeServer<ChatRequest>

const CHAT: Protocol<ChatRequest> = {
  base: '/v1',
  path: '/chat/completions',
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
  problem: errorBody,
  read: (body) => ({ messages: readMessages(body), tools: readTools(body), streaming: body.stream === true }),
  write(body, nth) {
    const head = { id: `chatcmpl-${nth}`, model: body.model }
    return {
      whole: (completion) => toChatCompletion(head, completion),
      stream: () => ({
        piece: (delta) => [{ data: toChunk(head, delta) }],
        end: (completion) => [
          ...lastChunks(head, completion, body.stream_options?.include_usage === true).map((data) => ({ data })),
          { data: '[DONE]' },
        ],
        broken: (problem) => [{ data: problem }],
      }),
    }
  },
}

/**
 * Starts a fake provider that speaks chat completions.
 *
 * @param options what answers: a `script` as for `scriptedModel`, or any `model`; `apiKey`, `port`, `host`
 * @throws the system's error when the port is taken
 * @example
 * const fake = await startFakeOpenAI({ script: ['Hello.'] })
 * fake.failNext({ status: 503 })
 * const model = openai({ model: 'any', baseURL: fake.url })
 */
export function startFakeOpenAI(options: FakeServerOptions): Promise<FakeOpenAI> {
  return startFakeServer(CHAT, options)
}
