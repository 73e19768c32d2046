/** A fake provider that speaks Anthropic's Messages API, and refuses what Anthropic refuses. */
import { Refusal, type Protocol } from './fake-protocol.ts'
import { startFakeServer, type FakeServer, type FakeServerOptions } from './fake-server.ts'
import { readConversation, readTools, type MessagesRequest } from './messages-request.ts'
import { parsed, problemBody, writeMessage } from './messages-response.ts'
import { checkMessages, checkThoughts } from './messages-rules.ts'
import { nameCalls, promptBefore, redact, signThinking, versionOf } from './thinking-seal.ts'

/** The versions of the API that there are. */
const VERSIONS = ['2023-06-01', '2026-10-21'] as const

/** A fake provider that speaks Anthropic's Messages API. */
export type FakeAnthropic = FakeServer<MessagesRequest>

/** What answers, and how. */
export type FakeAnthropicOptions = FakeServerOptions & {
  /** Thinking is sent encrypted, as `redacted_thinking`. */
  redactThinking?: boolean
}

/**
 * Starts a fake provider that speaks Anthropic's Messages API. It signs the thinking of its model (`reasoning` of a script)
 * and refuses a request that breaks one of the provider's rules with 400 and its words.
 *
 * @param options what answers: a `script` as for `scriptedModel`, or any `model`; `apiKey`, `port`, `host`, `redactThinking`
 * @throws the system's error when the port is taken
 * @example
 * const fake = await startFakeAnthropic({ script: [{ reasoning: 'It rains there.', content: 'Rain.' }] })
 * const model = createClaude({ model: 'claude-sonnet-5', baseURL: fake.url })
 */
export function startFakeAnthropic(options: FakeAnthropicOptions): Promise<FakeAnthropic> {
  return startFakeServer(messagesApi(options.redactThinking === true), options)
}

function messagesApi(redacted: boolean): Protocol<MessagesRequest> {
  const thought = new Map<string, Set<string>>()
  return {
    base: '/v1',
    path: '/messages',
    // Anthropic takes either; its SDK sends the second.
    keyOf: ({ 'x-api-key': key, authorization }) =>
      typeof key === 'string' ? key : authorization?.replace(/^Bearer /, ''),
    problem: problemBody,
    read(body, headers) {
      const version = VERSIONS.find((each) => each === headers['anthropic-version'])
      if (!version) throw new Refusal('anthropic-version: a valid version is required')
      if (version === '2026-10-21' && 'temperature' in body)
        throw new Refusal('temperature: Extra inputs are not permitted')
      checkMessages(body)
      if (thinks(body)) checkThoughts(body, thought)
      return { messages: readConversation(body), tools: readTools(body), streaming: body.stream === true }
    },
    write(body, nth) {
      const { model, messages } = body
      const prompt = promptBefore(body, messages.length)
      const sealed: string[] = []
      return writeMessage({
        id: `msg_${nth}`,
        model,
        seal(text) {
          if (!thinks(body)) return undefined
          const signature = signThinking(model, text, prompt)
          const data = redacted ? redact(text, signature) : ''
          if (text) sealed.push(data || signature)
          return redacted ? { type: 'redacted_thinking', data } : { type: 'thinking', thinking: text, signature }
        },
        done({ toolCalls }) {
          if (sealed.length === 0 || toolCalls.length === 0) return
          const calls = toolCalls.map(({ id, name, arguments: text }) => ({ id, name, input: parsed(text) }))
          const key = prompt + nameCalls(calls)
          thought.set(key, new Set([...(thought.get(key) ?? []), ...sealed]))
        },
      })
    },
  }
}

/** From version 5 on, a model thinks unless it is told not to. */
function thinks({ model, thinking }: MessagesRequest): boolean {
  return thinking ? thinking.type !== 'disabled' : versionOf(model) >= 5
}
