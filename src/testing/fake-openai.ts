/** A fake provider that speaks OpenAI's chat completions. */
import type { ModelDelta } from '../core/model.ts'
import { readMessages, readTools, type ChatRequest } from './chat-request.ts'
import { errorBody, lastChunks, toChatCompletion, toChunk } from './chat-response.ts'
import { checkChat, ProviderRules, type ChatRules } from './chat-rules.ts'
import type { Protocol } from './fake-protocol.ts'
import { startFakeServer, type FakeServer, type FakeServerOptions } from './fake-server.ts'

/** A fake provider that speaks chat completions. */
export type FakeOpenAI = FakeServer<ChatRequest>

/** What answers, where the server listens, and how strict it is. */
export type FakeOpenAIOptions = FakeServerOptions & {
  /**
   * Whose rules it enforces beside those of all providers: `deepseek` wants its reasoning back, `google` its signatures,
   * `mistral` ids of nine characters, `openai` `max_completion_tokens`. Unset = nobody's.
   */
  rules?: ChatRules
}

/**
 * Starts a fake provider that speaks chat completions. It refuses what every provider refuses, with status 400: a call
 * without a result, a result without a call, an id that repeats, a name that is not legal, an empty message.
 *
 * @param options what answers: a `script` as for `scriptedModel`, or any `model`; `rules`, `apiKey`, `port`, `host`
 * @throws the system's error when the port is taken
 * @example
 * const fake = await startFakeOpenAI({ script: ['Hello.'], rules: 'deepseek' })
 * fake.failNext({ status: 503 })
 * const model = openai({ model: 'any', baseURL: fake.url })
 */
export function startFakeOpenAI(options: FakeOpenAIOptions): Promise<FakeOpenAI> {
  return startFakeServer(chat(new ProviderRules(options.rules), options.rules), options)
}

function chat(rules: ProviderRules, whose: ChatRules | undefined): Protocol<ChatRequest> {
  return {
    base: '/v1',
    path: '/chat/completions',
    keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
    problem(status, message, code) {
      const body = errorBody(status, message, code)
      // Google sends its errors in a list.
      return whose === 'google' ? [body] : body
    },
    read(body) {
      checkChat(body)
      rules.check(body)
      return { messages: readMessages(body), tools: readTools(body), streaming: body.stream === true }
    },
    write(body, nth) {
      const head = { id: `chatcmpl-${nth}`, model: body.model }
      const extra = (index: number): object => rules.extra(nth, index)
      return {
        whole(completion, reasoning) {
          const thoughts = rules.thoughts(nth) + reasoning
          rules.answered(nth, completion, thoughts)
          return toChatCompletion(head, completion, { thoughts, extra })
        },
        stream() {
          let thoughts = rules.thoughts(nth)
          let first = thoughts === '' ? [] : [{ data: toChunk(head, { type: 'reasoning', text: thoughts }) }]
          return {
            piece(delta: ModelDelta) {
              const before = first
              first = []
              if (delta.type === 'reasoning') thoughts += delta.text
              return [...before, { data: toChunk(head, delta, extra) }]
            },
            end(completion) {
              rules.answered(nth, completion, thoughts)
              const withUsage = body.stream_options?.include_usage === true
              return [...lastChunks(head, completion, withUsage).map((data) => ({ data })), { data: '[DONE]' }]
            },
            broken: (problem) => [{ data: problem }],
          }
        },
      }
    },
  }
}
