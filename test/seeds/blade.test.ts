/** Blade's document on tools: three ways of writing one, what people and the model see, and which tools a session has. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import {
  createStelloAgent,
  createTool,
  defineTool,
  toolFromDefinition,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolDescription,
} from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { eventsUntil, useStello } from '../support/session-fixture.ts'
import { obedient, results } from './obedient.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const searchDocuments = async (query: string, limit: number): Promise<string[]> => [query, `at most ${limit}`]

const searchTool = defineTool({
  name: 'SearchDocs',
  description: 'Searches the documents',
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What to search for' },
      limit: { type: 'number', description: 'How many to return' },
    },
    required: ['query'],
  },
  kind: 'readonly',
  execute: async (params) => {
    const found = await searchDocuments(params.query, params.limit ?? 10)
    return {
      success: true,
      llmContent: JSON.stringify(found),
      displayContent: `${found.length} found`,
    }
  },
})

const deployTool = createTool({
  name: 'Deploy',
  displayName: 'Deploy',
  kind: 'execute',
  description: {
    short: 'Deploys to an environment',
    long: 'To staging and to production.',
    usageNotes: ['CI must have passed'],
    important: ['A person confirms production'],
  },
  schema: z.object({
    environment: z.enum(['staging', 'production']).describe('Where to'),
    version: z.string().describe('What'),
  }),
  execute: async (params, context) => {
    context.onProgress?.(`deploying ${params.version}`)
    return {
      success: true,
      llmContent: `v${params.version} is on ${params.environment}`,
      displayContent: `✅ v${params.version} → ${params.environment}`,
    }
  },
})

/** Written with the types of the document, and turned into a tool by hand. */
const description: ToolDescription = {
  short: 'Tells whose call it is',
  examples: [{ description: 'Always', params: {} }],
}
const definition: ToolDefinition = {
  name: 'Whose',
  displayName: 'Whose call',
  description,
  parameters: { type: 'object', properties: {} },
  kind: 'readonly',
  execute: async (_params: Record<string, unknown>, context: ToolContext) => {
    const { userId, sessionId, messageId, contextSnapshot, signal, permissionMode, bladeConfig } = context
    context.updateOutput?.('looking')
    return {
      success: false,
      llmContent: { userId, messageId, permissionMode, aborted: signal?.aborted, agent: bladeConfig?.['agent'] },
      displayContent: `session ${sessionId}, ${contextSnapshot?.messages.length} messages`,
      error: { message: 'not his', code: 'OTHER' },
      metadata: { confirmation: typeof context.confirmationHandler },
    }
  },
}
const whoseTool: Tool = toolFromDefinition(definition)

const name = `seed-blade-${process.pid}`
const serve = async (): Promise<ReturnType<typeof scriptedModel>> => {
  const llm = scriptedModel(obedient)
  await stello.serve(createStelloAgent({ name, llm, capabilities: { tools: [whoseTool, searchTool, deployTool] } }))
  return llm
}

it('tools of all three ways are told in order, and tell the model one thing and people another', async () => {
  const llm = await serve()
  const session = await stello.client.createSession({ agent: name, userId: 'ann', permissionMode: 'yolo' })
  const turn = await session.send(
    JSON.stringify([
      { name: 'SearchDocs', arguments: { query: 'cats' } },
      { name: 'Deploy', arguments: { environment: 'staging', version: '2' } },
      { name: 'Whose' },
      { name: 'Deploy', arguments: { environment: 'moon', version: '2' } },
    ]),
    { messageId: 'm1' },
  )
  await turn.result()
  const tools = llm.calls[0]?.tools ?? []
  expect(tools.map((tool) => tool.name)).toEqual(['stello_create_session', 'Deploy', 'SearchDocs', 'Whose'])
  expect(tools[1]).toMatchObject({
    displayName: 'Deploy',
    description:
      'Deploys to an environment\n\nTo staging and to production.\n\n' +
      'Usage notes:\n- CI must have passed\n\nImportant:\n- A person confirms production',
  })
  expect(tools[3]?.description).toBe('Tells whose call it is\n\nExamples:\n- Always: {}')
  const read = llm.calls.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? []
  expect(read.map(({ content }) => content)).toEqual([
    '["cats","at most 10"]',
    'v2 is on staging',
    `not his\n{"userId":"ann","messageId":"m1","permissionMode":"yolo","aborted":false,"agent":"${name}"}`,
    expect.stringMatching(/^TOOL_VALIDATION_ERROR: .*environment/s),
  ])
  expect(read.map(({ isError = false }) => isError)).toEqual([false, false, true, true])
  const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
  const ended = events.filter(({ type, data }) => type === 'tool.status' && data['status'] !== 'DOING')
  expect(ended.map(({ data }) => fieldOf(data, 'result'))).toEqual(
    expect.arrayContaining(['2 found', '✅ v2 → staging', `session ${session.id}, 2 messages`]),
  )
  expect(ended.map(({ data }) => fieldOf(data, 'details'))).toContainEqual({ confirmation: 'function' })
})

it('a session has only the tools it is allowed, and none it is forbidden', async () => {
  const llm = await serve()
  const session = await stello.client.createSession({
    agent: name,
    allowedTools: ['SearchDocs', 'Read', 'Edit', 'Write', 'Glob', 'Grep'],
  })
  expect(await results(session, { name: 'Deploy', arguments: { environment: 'staging', version: '1' } })).toEqual([
    'TOOL_NOT_FOUND: unknown tool "Deploy". Available: stello_create_session, SearchDocs',
  ])
  const session2 = await stello.client.createSession({
    agent: name,
    disallowedTools: ['Bash', 'KillShell', 'Deploy'],
  })
  await results(session2, { name: 'Whose' })
  expect(llm.calls.at(-1)?.tools.map((tool) => tool.name)).toEqual(['stello_create_session', 'SearchDocs', 'Whose'])
})

it('defineTool returns what it was given', () => {
  expect(defineTool(definition)).toBe(definition)
})
