/** The context of a call for tests of packs: values are kept in memory, and the test answers questions. */
import { NOT_YET } from '../../../src/activities/tool/execute.ts'
import type { PersonAnswer, PersonQuestion, ToolContext } from '../../../src/index.ts'

export interface TestContext extends ToolContext {
  /** What was asked. */
  readonly asked: PersonQuestion[]
}

/** @param answer to the questions; unset: asking fails the test */
export function testContext(
  given: Partial<ToolContext> = {},
  answer: (question: PersonQuestion) => PersonAnswer = () => {
    throw new Error('nobody was to be asked')
  },
): TestContext {
  const values = new Map<string, unknown>()
  const asked: PersonQuestion[] = []
  return {
    sessionId: 'session-1',
    rootId: 'session-1',
    depth: 0,
    messageId: 'message-1',
    requestId: 'call-1',
    callId: 'call-1',
    idempotencyKey: 'key-1',
    signal: new AbortController().signal,
    contextSnapshot: { messages: [] },
    values: {
      get: async (name) => structuredClone(values.get(name)),
      set: (name, value) => void values.set(name, structuredClone(value)),
      delete: (name) => void values.delete(name),
    },
    skills: [],
    listTools: async () => [],
    ask: async (question) => {
      asked.push(question)
      return answer(question)
    },
    agents: NOT_YET.agents,
    setToolResult: async () => undefined,
    sendToolStatus: async () => undefined,
    onUpdate: () => undefined,
    onProgress: () => undefined,
    updateOutput: () => undefined,
    ...given,
    asked,
  }
}
