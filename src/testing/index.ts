/** What tests of an agent need: `stello-temporal/testing`. */
export { scriptedModel } from './scripted-model.ts'
export type {
  FullReply,
  Reply,
  ReplyError,
  ReplyToolCall,
  Script,
  ScriptedModel,
  ScriptFunction,
  ScriptRequest,
} from './scripted-model.ts'
export { replyBy } from './reply-by.ts'
export type { Matcher, Rule } from './reply-by.ts'
export { startFakeOpenAI } from './fake-openai.ts'
export type { FakeOpenAI, FakeOpenAIOptions } from './fake-openai.ts'
export type { ChatRules } from './chat-rules.ts'
export type { FakeFailure, FakeRequest, FakeServer, FakeServerOptions, HeldRequests } from './fake-server.ts'
export type { ChatRequest } from './chat-request.ts'
export { startFakeAnthropic } from './fake-anthropic.ts'
export type { FakeAnthropic, FakeAnthropicOptions } from './fake-anthropic.ts'
export type { MessagesBlock, MessagesRequest, MessagesTool, MessagesTurn } from './messages-request.ts'
export { startFakeResponses } from './fake-responses.ts'
export type { FakeResponses, FakeResponsesOptions } from './fake-responses.ts'
export type { ResponsesRequest } from './responses-request.ts'
export { startTestServers } from './test-servers.ts'
export type { TestServers } from './test-servers.ts'
