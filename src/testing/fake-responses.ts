/** A fake provider that speaks OpenAI's Responses API, and refuses what OpenAI refuses. It stores no answer. */
import { errorBody } from './chat-response.ts'
import type { Protocol } from './fake-protocol.ts'
import { startFakeServer, type FakeServer, type FakeServerOptions } from './fake-server.ts'
import { readInput, readResponsesTools, type ResponsesRequest } from './responses-request.ts'
import { ResponsesRules } from './responses-rules.ts'
import { ResponseWriter } from './response-writer.ts'

/** What answers, where the server listens, and what kind of model it is. */
export type FakeResponsesOptions = FakeServerOptions & {
  /** Whether its models reason. Unset = yes: each answer begins with a reasoning item, which must come back. */
  reasoning?: boolean
}

/** A fake provider that speaks the Responses API. */
export type FakeResponses = FakeServer<ResponsesRequest>

/**
 * Starts a fake provider that speaks the Responses API. It knows which calls its models have made: without the reasoning
 * item that belongs to it, a call is refused, as is reasoning that it has not written.
 *
 * @param options what answers: a `script` as for `scriptedModel`, or any `model`; `reasoning`, `apiKey`, `port`, `host`
 * @throws the system's error when the port is taken
 * @example
 * const fake = await startFakeResponses({ script: ['Hello.'] })
 * const model = openai({ model: 'any', baseURL: fake.url, api: 'responses' })
 */
export function startFakeResponses(options: FakeResponsesOptions): Promise<FakeResponses> {
  const { reasoning = true } = options
  const rules = new ResponsesRules(reasoning)
  const protocol: Protocol<ResponsesRequest> = {
    base: '/v1',
    path: '/responses',
    keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
    problem: errorBody,
    read(body) {
      rules.check(body)
      return { messages: readInput(body), tools: readResponsesTools(body), streaming: body.stream === true }
    },
    write(body, nth) {
      const writer = (): ResponseWriter => new ResponseWriter(body, { nth, reasons: reasoning, rules })
      return { whole: (completion, thought) => writer().whole(completion, thought), stream: writer }
    },
  }
  return startFakeServer(protocol, options)
}
