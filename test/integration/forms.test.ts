/** Every way of writing a tool, as the model and people see it in a session. */
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createStelloAgent } from '../../src/agent/agent.ts'
import {
  createSimpleTool,
  createTool,
  defineSimpleTool,
  defineTool,
  toolFromDefinition,
} from '../../src/tool/compat.ts'
import { SkillRouterImpl } from '../../src/agent/skill-router.ts'
import type { AnyTool } from '../../src/tool/any-tool.ts'
import type { ToolContext } from '../../src/tool/tool.ts'
import { replyBy, scriptedModel, type ReplyToolCall, type ScriptedModel } from '../../src/testing/index.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()

function calling(...toolCalls: ReplyToolCall[]): ScriptedModel {
  return scriptedModel(
    replyBy([
      ['go', { toolCalls }],
      [({ role }) => role === 'tool', 'done'],
    ]),
  )
}

const pixel = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }
const context = defineTool({
  name: 'context',
  description: 'Tells its context',
  parameters: z.object({}),
  execute: (_args, ctx) => {
    const { userId, permissionMode, messageId, bladeConfig, contextSnapshot } = ctx
    return {
      userId,
      permissionMode,
      messageId,
      label: bladeConfig?.['label'],
      said: contextSnapshot?.messages.map(({ role }) => role),
      same: ctx.requestId === ctx.callId && ctx.idempotencyKey.includes(ctx.sessionId),
      functions: [ctx.onProgress, ctx.updateOutput, ctx.onUpdate].every((each) => typeof each === 'function'),
    }
  },
})

const tools: AnyTool[] = [
  defineTool({
    name: 'a-typebox',
    label: 'Lookup',
    description: 'Looks up',
    parameters: Type.Object({ id: Type.String(), deep: Type.Boolean() }),
    execute: async ({ id, deep }) => ({
      content: [{ type: 'text', text: `${id} ${typeof deep}` }, pixel],
      details: { secret: 'for people' },
    }),
  }),
  defineTool({
    name: 'b-transfer',
    description: 'Transfers',
    parameters: Type.Object({ amount: Type.Number({ minimum: 1 }) }),
    validate: async ({ amount }) => ({ valid: amount < 100, reason: 'Insufficient funds' }),
    execute: ({ amount }) => `sent ${amount}`,
  }),
  createTool({
    name: 'c-deploy',
    displayName: 'Deployment',
    kind: 'execute',
    description: {
      short: 'Deploys.',
      usageNotes: ['CI first'],
      examples: [{ description: 'One', params: { v: '1' } }],
    },
    schema: z.object({ v: z.string() }),
    execute: async ({ v }) => ({
      success: true,
      llmContent: { v },
      displayContent: `v${v} is out`,
      metadata: { ms: 3 },
    }),
  }),
  toolFromDefinition({
    name: 'd-search',
    description: 'Searches',
    kind: 'readonly',
    parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
    execute: async ({ q }) => ({
      success: false,
      llmContent: `no ${String(q)}`,
      displayContent: '✗',
      error: { message: 'index is down' },
    }),
  }),
  createSimpleTool({
    name: 'e-add',
    description: { displayName: 'Adder', description: 'Adds' },
    parameters: z.object({ terms: z.array(z.number()) }),
    execute: async ({ terms }, _ctx, isPartial) => (isPartial ? undefined : terms.reduce((a, b) => a + b)),
  }),
  defineSimpleTool({ name: 'f-ping', description: 'Is it there?', execute: () => 'pong' }),
]

describe('tools of all forms, side by side', () => {
  const calls: ReplyToolCall[] = [
    { name: 'a-typebox', arguments: { id: 'x', deep: 'true' } },
    { name: 'b-transfer', arguments: { amount: '500' } },
    { name: 'c-deploy', arguments: { v: '2' } },
    { name: 'd-search', arguments: { q: 'cats' } },
    { name: 'e-add', arguments: { terms: '[1, 2]' } },
    { name: 'f-ping' },
    { name: 'b-transfer', arguments: { amount: 'much' } },
    { name: 'g-missing' },
  ]

  it('give the model their results and people theirs', async () => {
    const llm = calling(...calls)
    const session = await stello.session({ llm, capabilities: { tools } })
    expect(await ask(session, 'go')).toBe('done')
    const read = llm.calls[1]?.messages.filter(({ role }) => role === 'tool') ?? []
    expect(read.map(({ content }) => content)).toEqual([
      'x boolean\n[image image/png]',
      'Tool precondition failed: Insufficient funds',
      '{"v":"2"}',
      'index is down\nno cats',
      '3',
      'pong',
      expect.stringMatching(/^TOOL_VALIDATION_ERROR: - amount: .*number.*got "much"$/),
      'TOOL_NOT_FOUND: unknown tool "g-missing". Available: stello_create_session, ' +
        'a-typebox, b-transfer, c-deploy, d-search, e-add, f-ping',
    ])
    expect(read[0]?.parts).toEqual([{ type: 'text', text: 'x boolean' }, pixel])
    expect(read.map(({ isError = false }) => isError)).toEqual([false, true, false, true, false, false, true, true])
    expect(JSON.stringify(llm.calls[1]?.messages)).not.toMatch(/for people|is out|✗/)

    const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
    const shown = new Map(
      events
        .filter(({ type }) => type === 'tool.status')
        .map(({ data }) => [[fieldOf(data, 'name'), fieldOf(data, 'code')].join(' '), data]),
    )
    expect(shown.get('a-typebox ')).toMatchObject({
      status: 'SUCCESS',
      params: { id: 'x', deep: true },
      details: { secret: 'for people' },
    })
    expect(shown.get('b-transfer TOOL_PRECONDITION_FAILED')).toMatchObject({ status: 'ERROR' })
    expect(shown.get('c-deploy ')).toMatchObject({ status: 'SUCCESS', result: 'v2 is out', details: { ms: 3 } })
    expect(shown.get('d-search ')).toMatchObject({ status: 'ERROR', result: '✗' })
    expect(shown.get('b-transfer TOOL_VALIDATION_ERROR')).toMatchObject({ status: 'ERROR' })
    expect(shown.get('g-missing TOOL_NOT_FOUND')).toMatchObject({ status: 'ERROR' })
  })

  it('are described to the model as one text and one JSON Schema each, A to Z after the built-ins', async () => {
    const llm = calling()
    const session = await stello.session({
      llm,
      capabilities: { tools: tools.toReversed() },
    })
    await ask(session, 'go')
    const [first] = llm.calls
    expect(first?.tools.map(({ name }) => name)).toEqual([
      'stello_create_session',
      'a-typebox',
      'b-transfer',
      'c-deploy',
      'd-search',
      'e-add',
      'f-ping',
    ])
    expect(first?.tools.map(({ parameters }) => parameters['type'])).toEqual(Array(7).fill('object'))
    expect(first?.tools[3]?.description).toBe('Deploys.\n\nUsage notes:\n- CI first\n\nExamples:\n- One: {"v":"1"}')
  })
})

it('one context for all forms: the caller, the user, the session, and what was said', async () => {
  const llm = calling({ name: 'context' })
  const { taskQueue } = await stello.work({ llm, capabilities: { tools: [context] } })
  const session = await stello.client.createSession({
    agent: taskQueue,
    label: 'main',
    userId: 'ann',
    permissionMode: 'bypassPermissions',
  })
  await (await session.send('go', { messageId: 'm1' })).result()
  const result = llm.calls[1]?.messages.at(-1)?.content ?? '{}'
  expect(JSON.parse(result)).toEqual({
    userId: 'ann',
    permissionMode: 'bypassPermissions',
    messageId: 'm1',
    label: 'main',
    said: ['user', 'assistant'],
    same: true,
    functions: true,
  })
})

describe('a name that is taken', () => {
  it('by a system tool is the user’s, in the list and when it is called', async () => {
    const mine = defineSimpleTool({
      name: 'attempt_completion',
      description: 'My own end',
      execute: () => 'not the end',
    })
    const llm = calling({ name: 'attempt_completion' })
    const session = await stello.session({ llm, systemTools: true, capabilities: { tools: [mine] } })
    expect(await (await session.send('go')).result()).toMatchObject({ text: 'done', stopReason: 'end_turn' })
    expect(llm.calls[0]?.tools.filter(({ name }) => name === 'attempt_completion')).toMatchObject([
      { description: 'My own end' },
    ])
    expect(llm.calls[1]?.messages.at(-1)?.content).toBe('not the end')
  })

  it('by one of Stello’s two tools stays Stello’s, with a warning', async () => {
    const mine = defineSimpleTool({ name: 'activate_skill', description: 'Mine', execute: () => 'mine' })
    const skills = new SkillRouterImpl().register({ name: 'review', description: 'Reviews', content: 'Check it.' })
    const llm = calling({ name: 'activate_skill', arguments: { name: 'review' } })
    const session = await stello.session({ llm, capabilities: { tools: [mine], skills } })
    await ask(session, 'go')
    expect(llm.calls[1]?.messages.at(-1)?.content).toBe('Check it.')
    expect(stello.warnings).toEqual([expect.stringContaining('tool "activate_skill" is left out')])
  })

  it('by another user tool is refused at start', () => {
    const ping = defineSimpleTool({ name: 'ping', description: 'p', execute: () => 'pong' })
    const agent = { name: 'a', llm: calling(), capabilities: { tools: [ping, { ...ping }] } }
    expect(() => createStelloAgent(agent)).toThrow('tool "ping" is there twice')
  })
})

it('a tool registered with the agent by class or factory is made for each call and disposed of', async () => {
  const life: string[] = []
  const agent = createStelloAgent({
    name: `factories-${process.pid}`,
    llm: calling({ name: 'database_query', arguments: { sql: 'select' } }),
  })
  agent.registerTool({
    name: 'database_query',
    effect: 'pure',
    factory: async ({ sessionId }) => {
      life.push('connect')
      return {
        getDescription: async () => ({ displayName: 'Query', description: `Asks for ${sessionId.length > 0}` }),
        getParameters: async () => z.object({ sql: z.string() }),
        execute: async ({ sql }: { sql: string }, ctx: ToolContext) => {
          life.push(`run ${sql}`)
          await ctx.setToolResult({ rows: 0 })
        },
        dispose: async () => void life.push('close'),
      }
    },
  })
  await stello.serve(agent)
  const session = await stello.client.createSession({ agent: agent.name, label: 'main' })
  await ask(session, 'go')
  expect((await session.transcript())[2]).toMatchObject({ role: 'tool', content: '{"rows":0}' })
  // An instance for each of two model calls that list it, and one for the call.
  expect(life.filter((event) => event === 'connect')).toHaveLength(3)
  expect(life.filter((event) => event === 'close')).toHaveLength(3)
  expect(life.filter((event) => event.startsWith('run'))).toEqual(['run select'])
})
