/**
 * The ways of the seeds to write a tool, as their users write them. What all ways share is tested in to-tool.test.ts.
 */
import { Type } from '@sinclair/typebox'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createStelloAgent } from '../../../src/agent/agent.ts'
import {
  createSimpleTool,
  createTool,
  defineSimpleTool,
  defineTool,
  registerTool,
  toolFromDefinition,
  toolRegistry,
  type InputOf,
} from '../../../src/tool/compat.ts'
import { normalizeResult } from '../../../src/tool/result.ts'
import { toTool } from '../../../src/tool/to-tool.ts'
import type { Tool, ToolContext } from '../../../src/tool/tool.ts'
import { llm, refusal } from '../agent/authoring.ts'

const ctx = { callId: 'call-1' } as ToolContext

/** Runs the tool as a session does, without the session. */
async function call(tool: Tool, args: unknown): Promise<unknown> {
  const checked = tool.check(args)
  if (!checked.ok) throw new Error(checked.problem)
  await tool.precondition?.(checked.value, ctx)
  return tool.execute(checked.value, ctx)
}

const searchSchema = {
  type: 'object',
  properties: { query: { type: 'string' }, limit: { type: 'number' } },
  required: ['query'],
}

describe('defineTool', () => {
  const lookup = defineTool({
    name: 'customer-lookup',
    label: 'Customer Lookup',
    description: 'Look up a customer by account ID.',
    parameters: Type.Object({ accountId: Type.String({ description: 'The account identifier' }) }),
    async execute(params) {
      expectTypeOf(params).toEqualTypeOf<{ accountId: string }>()
      return { content: [{ type: 'text', text: params.accountId }], details: { id: params.accountId } }
    },
  })

  it('with TypeBox gives execute its input, and people the label', async () => {
    const tool = toTool(lookup)
    expect(tool.annotations).toEqual({ title: 'Customer Lookup' })
    expect(tool.check({ accountId: 7 }).ok).toBe(false)
    expect(normalizeResult(await call(tool, { accountId: 'a-1' }))).toEqual({
      content: 'a-1',
      isError: false,
      details: { id: 'a-1' },
    })
  })

  it('with JSON Schema from elsewhere knows only that the input is an object', async () => {
    const search = defineTool({
      name: 'SearchDocs',
      description: 'Searches the documents',
      parameters: searchSchema,
      kind: 'readonly',
      execute: async (params) => {
        expectTypeOf(params).toEqualTypeOf<Record<string, unknown>>()
        const { query } = params
        return { success: true, llmContent: { query }, displayContent: 'found 1' }
      },
    })
    expect(toTool(search)).toMatchObject({ kind: 'readonly', effect: 'pure', parameters: searchSchema })
    expect(normalizeResult(await call(toTool(search), { query: 'x' }))).toEqual({
      content: '{"query":"x"}',
      isError: false,
      display: 'found 1',
    })
  })

  it('with Zod gives execute and validate what the schema puts out', async () => {
    const square = defineTool({
      name: 'square',
      description: 'Squares',
      parameters: z.object({ n: z.number().default(3) }),
      validate: ({ n }) => {
        expectTypeOf(n).toEqualTypeOf<number>()
      },
      execute: ({ n }) => {
        expectTypeOf(n).toEqualTypeOf<number>()
        return n * n
      },
    })
    expect(await call(toTool(square), {})).toBe(9)
  })

  it('returns what it was given, and an agent and a registry take it', () => {
    const given = { name: 'given', description: 'd', parameters: searchSchema, execute: () => 'done' }
    expect(defineTool(given)).toBe(given)
    const agent = createStelloAgent({ name: 'a', llm, capabilities: { tools: [lookup, defineTool(given)] } })
    expect([...agent.tools.keys()]).toEqual(['customer-lookup', 'given'])
  })

  it('lets an author write the type of the input', async () => {
    const greet = defineTool({
      name: 'greet',
      description: 'Greets',
      parameters: searchSchema,
      execute: (params: { query: string }) => params.query.toUpperCase(),
    })
    expect(await call(toTool(greet), { query: 'x' })).toBe('X')
  })
})

describe('a tool with validate', () => {
  const transfer = toTool(
    defineTool({
      name: 'transfer_funds',
      description: 'Transfer an amount between two accounts.',
      parameters: Type.Object({ from: Type.String(), amount: Type.Number({ minimum: 0.01 }) }),
      async validate(params) {
        if (params.from === 'unreachable') throw new Error('no connection to the bank')
        if (params.from === 'silent') return { valid: false }
        if (params.amount > 100) return { valid: false, reason: 'Insufficient funds' }
        return { valid: true }
      },
      execute: async ({ amount }) => ({ content: [{ type: 'text', text: `sent ${amount}` }], details: null }),
    }),
  )

  it.each([
    ['says no', { from: 'a', amount: 500 }, 'Insufficient funds'],
    ['throws', { from: 'unreachable', amount: 1 }, 'no connection to the bank'],
    ['says no without a reason', { from: 'silent', amount: 1 }, 'the tool gave no reason'],
  ])('that %s is refused in words for the model', async (_what, args, reason) => {
    await expect(call(transfer, args)).rejects.toMatchObject({
      code: 'TOOL_PRECONDITION_FAILED',
      message: `Tool precondition failed: ${reason}`,
    })
  })

  it('that says yes, or nothing, runs', async () => {
    expect(normalizeResult(await call(transfer, { from: 'a', amount: 5 })).content).toBe('sent 5')
    const silent = defineSimpleTool({ name: 's', description: 'd', validate: () => {}, execute: () => 'ran' })
    expect(await call(silent, {})).toBe('ran')
  })

  it('keeps its `this`', async () => {
    const gate = {
      name: 'gate',
      description: 'd',
      parameters: { type: 'object' },
      open: false,
      validate() {
        return { valid: this.open }
      },
      execute: () => 'through',
    }
    const tool = toTool(gate)
    await expect(call(tool, {})).rejects.toMatchObject({ code: 'TOOL_PRECONDITION_FAILED' })
    gate.open = true
    expect(await call(tool, {})).toBe('through')
  })

  it('has a precondition, a tool without has none', () => {
    expect(transfer.precondition).toBeTypeOf('function')
    expect(defineSimpleTool({ name: 's', description: 'd', execute: () => 1 })).not.toHaveProperty('precondition')
  })

  it('that is no function is refused', () => {
    const wrong = { name: 'w', description: 'd', parameters: { type: 'object' }, validate: true, execute: () => 1 }
    expect(refusal('INVALID_TOOL', () => toTool(wrong))).toContain('tool "w": validate must be a function')
  })
})

it('defineSimpleTool has no parameters', async () => {
  const ping = defineSimpleTool({
    name: 'ping',
    label: 'Ping',
    description: 'Check that the service is reachable.',
    async execute() {
      return { content: [{ type: 'text', text: 'pong' }], details: null }
    },
  })
  expect(ping).toMatchObject({ parameters: { type: 'object', properties: {} }, annotations: { title: 'Ping' } })
  expect(normalizeResult(await call(ping, undefined))).toEqual({ content: 'pong', isError: false })
})

it('createTool infers from `schema` and takes a structured description', async () => {
  const deploy = createTool({
    name: 'Deploy',
    displayName: 'Deployment',
    kind: 'execute',
    description: { short: 'Deploys.', important: ['Production needs a person'] },
    schema: z.object({ environment: z.enum(['staging', 'production']), version: z.string() }),
    execute: async (params, context) => {
      expectTypeOf(params).toEqualTypeOf<{ environment: 'staging' | 'production'; version: string }>()
      expectTypeOf(context).toEqualTypeOf<ToolContext>()
      return { success: false, llmContent: `${params.version} failed`, displayContent: '✗', error: { message: 'red' } }
    },
  })
  expect(deploy).toMatchObject({
    description: 'Deploys.\n\nImportant:\n- Production needs a person',
    annotations: { title: 'Deployment' },
    kind: 'execute',
  })
  expect(deploy.check({ environment: 'moon', version: '1' }).ok).toBe(false)
  expect(normalizeResult(await call(deploy, { environment: 'staging', version: '1' }))).toEqual({
    content: 'red\n1 failed',
    isError: true,
    display: '✗',
  })
})

it('toolFromDefinition makes a tool of a definition', async () => {
  const definition = defineTool({
    name: 'd',
    description: 'd',
    parameters: searchSchema,
    execute: ({ query }) => query,
  })
  expect(await call(toolFromDefinition(definition), { query: 'x' })).toBe('x')
  expect(refusal('INVALID_TOOL', () => toolFromDefinition({ ...definition, name: 'no name' }))).toContain('"no name"')
})

it('createSimpleTool is run with complete arguments, and what it returns is the result', async () => {
  const calculator = createSimpleTool({
    name: 'calculator',
    description: { displayName: 'Calculator', description: 'Adds', category: 'math' },
    parameters: z.object({ terms: z.array(z.number()) }),
    execute: async (params, context, isPartial) => {
      expectTypeOf(params).toEqualTypeOf<{ terms: number[] }>()
      return [params.terms.reduce((a, b) => a + b), context.callId, isPartial]
    },
  })
  expect(calculator).toMatchObject({ description: 'Adds', annotations: { title: 'Calculator' } })
  expect(await call(calculator, { terms: [1, 2] })).toEqual([3, 'call-1', false])
})

it('registerTool fills the registry that an agent takes; a name is taken once', async () => {
  const shell = {
    name: 'shell',
    description: 'Runs a command',
    parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  }
  registerTool(shell, ({ command }) => `ran ${String(command)}`)
  registerTool(
    { name: 'read_file', description: 'Reads', parameters: Type.Object({ path: Type.String() }) },
    (input) => {
      expectTypeOf(input).toEqualTypeOf<{ path: string }>()
      return input.path
    },
  )
  const agent = createStelloAgent({ name: 'a', llm, capabilities: { tools: toolRegistry } })
  // The registry is global, so other test files of this process may have filled it too.
  expect([...agent.tools.keys()]).toEqual(expect.arrayContaining(['shell', 'read_file']))
  expect(await call(agent.tools.get('shell')!, { command: 'ls' })).toBe('ran ls')
  expect(refusal('INVALID_TOOL', () => registerTool(shell, () => ''))).toContain('"shell" is registered twice')
})

it('any Standard Schema that can give a JSON Schema types the input, too', async () => {
  const validate = (value: unknown) => ({ value: { n: Number((value as { n: string }).n) } })
  const schema = {
    '~standard': {
      version: 1 as const,
      vendor: 'acme',
      validate,
      jsonSchema: { input: () => ({ type: 'object', properties: { n: { type: 'string' } } }) },
      types: undefined as { input: { n: string }; output: { n: number } } | undefined,
    },
  }
  const double = createTool({
    name: 'double',
    description: 'Doubles',
    schema,
    validate: ({ n }) => {
      expectTypeOf(n).toEqualTypeOf<number>()
    },
    onPartial: (args) => {
      expectTypeOf(args).toEqualTypeOf<Partial<{ n: number }>>()
    },
    execute: ({ n }) => 2 * n,
  })
  expect(double.parameters).toEqual({ type: 'object', properties: { n: { type: 'string' } } })
  expect(await call(double, { n: '21' })).toBe(42)
})

it('the input of a schema is the value that it lets through', () => {
  const [zod, box] = [z.object({ a: z.string().transform(Number) }), Type.Object({ a: Type.Optional(Type.Number()) })]
  expectTypeOf<InputOf<typeof zod>>().toEqualTypeOf<{ a: number }>()
  expectTypeOf<InputOf<typeof box>>().toEqualTypeOf<{ a?: number }>()
  expectTypeOf<InputOf<{ type: 'object' }>>().toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf<InputOf<unknown>>().toEqualTypeOf<Record<string, unknown>>()
  expect(zod.parse({ a: '1' })).toEqual({ a: 1 })
})
