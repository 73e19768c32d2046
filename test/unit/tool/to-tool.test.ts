import { Type } from '@sinclair/typebox'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { StelloError } from '../../../src/core/errors.ts'
import { toTool } from '../../../src/tool/to-tool.ts'
import { tool } from '../../../src/tool/tool-function.ts'
import type { ToolContext } from '../../../src/tool/tool.ts'

const ctx = {} as ToolContext
const done = () => 'done'

function refusal(anything: unknown): string {
  try {
    toTool(anything)
  } catch (error) {
    if (error instanceof StelloError && error.code === 'INVALID_TOOL') return error.message
    throw error
  }
  throw new Error('the tool was accepted')
}

describe('tool()', () => {
  const weather = tool(
    'get_weather',
    'The weather in a city',
    z.object({ city: z.string().describe('Name of the city'), unit: z.enum(['c', 'f']).default('c') }),
    async (input) => {
      expectTypeOf(input).toEqualTypeOf<{ city: string; unit: 'c' | 'f' }>()
      return { content: [{ type: 'text', text: `${input.city} ${input.unit}` }] }
    },
    { readOnlyHint: true, title: 'Weather', timeout: '30s', retries: { attempts: 5 } },
  )

  it('shows the model what goes in: a field with a default is optional', () => {
    expect(weather.parameters).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name of the city' },
        unit: { type: 'string', enum: ['c', 'f'], default: 'c' },
      },
      required: ['city'],
    })
  })

  it('keeps the hints and takes effect and kind from them', () => {
    expect(weather).toMatchObject({
      annotations: { readOnlyHint: true, title: 'Weather' },
      effect: 'pure',
      kind: 'readonly',
      timeoutMs: 30_000,
      retries: { attempts: 5 },
    })
    expect(weather.annotations).not.toHaveProperty('timeout')
  })

  it.each([
    [{}, 'non_idempotent', 'execute'],
    [{ idempotentHint: true }, 'idempotent', 'execute'],
    [{ kind: 'readonly' }, 'pure', 'readonly'],
    [{ kind: 'readonly', idempotentHint: true }, 'pure', 'readonly'],
    [{ kind: 'readonly', effect: 'non_idempotent' }, 'non_idempotent', 'readonly'],
    [{ kind: 'write' }, 'non_idempotent', 'write'],
    [{ readOnlyHint: true, effect: 'non_idempotent', kind: 'write' }, 'non_idempotent', 'write'],
  ] as const)('with %o has effect %s and kind %s', (extras, effect, kind) => {
    expect(tool('t', 'd', z.object({}), done, extras)).toMatchObject({ effect, kind })
  })

  it('runs execute with the checked input', async () => {
    const checked = weather.check({ city: 'Rome' })
    expect(checked).toEqual({ ok: true, value: { city: 'Rome', unit: 'c' } })
    const result = await weather.execute(checked.ok && checked.value, ctx)
    expect(result).toEqual({ content: [{ type: 'text', text: 'Rome c' }] })
  })

  it('keeps what follows an unknown outcome, and asks verify with the checked input', async () => {
    const pay = tool('pay', 'Pays', z.object({ amount: z.number() }), done, {
      onUnknownOutcome: 'ask',
      verify: (input, { callId }) => {
        expectTypeOf(input).toEqualTypeOf<{ amount: number }>()
        return { happened: true, result: `${callId} paid ${input.amount}` }
      },
    })
    expect(pay.onUnknownOutcome).toBe('ask')
    expect(pay.annotations).toEqual({})
    expect(await pay.verify?.({ amount: 3 }, { ...ctx, callId: 'c-1' })).toEqual({
      happened: true,
      result: 'c-1 paid 3',
    })
  })

  it('says nothing about unknown outcomes unless told', () => {
    const plain = tool('t', 'd', z.object({}), done)
    expect(plain).not.toHaveProperty('onUnknownOutcome')
    expect(plain).not.toHaveProperty('verify')
  })

  it('leaves the time-out to the agent when none is given', () => {
    expect(tool('t', 'd', z.object({}), done)).not.toHaveProperty('timeoutMs')
  })
})

describe('toTool', () => {
  it('returns a tool as it is, also one of another copy of the package', () => {
    const given = tool('t', 'd', z.object({}), done)
    expect(toTool(given)).toBe(given)
    const copy = { ...given }
    expect(toTool(copy)).toBe(copy)
  })

  it('takes the registry form with JSON Schema', async () => {
    const save = toTool({
      name: 'save_note',
      description: 'Saves a note',
      parameters: { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] },
      execute: async (args: Record<string, unknown>) => ({ success: true, data: args['note'] }),
    })
    expect(save.parameters).toEqual({ type: 'object', properties: { note: { type: 'string' } }, required: ['note'] })
    expect(save.check({}).ok).toBe(false)
    expect(await save.execute({ note: 'x' }, ctx)).toEqual({ success: true, data: 'x' })
  })

  it('takes TypeBox and shows the model plain JSON Schema', () => {
    const parameters = Type.Object({
      id: Type.String({ description: 'Account' }),
      amount: Type.Optional(Type.Number({ minimum: 1 })),
    })
    const given = toTool({ name: 't', description: 'd', parameters, execute: done })
    expect(given.parameters).toEqual({
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', description: 'Account' }, amount: { type: 'number', minimum: 1 } },
    })
    expect(Object.getOwnPropertySymbols(given.parameters)).toEqual([])
    expect(given.check({ id: 'a', amount: 0 }).ok).toBe(false)
  })

  it('takes any Standard Schema that has a JSON form', () => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'acme',
        validate: (value: unknown) =>
          value === 7 ? { value } : { issues: [{ message: 'not seven', path: [{ key: 'n' }] }] },
        jsonSchema: { input: () => ({ type: 'object', properties: { n: { type: 'integer' } } }) },
      },
    }
    const given = toTool({ name: 't', description: 'd', inputSchema: schema, execute: done })
    expect(given.parameters).toEqual({ type: 'object', properties: { n: { type: 'integer' } } })
    expect(given.check({ n: 8 })).toEqual({ ok: false, problem: '- n: not seven; got 8' })
  })

  it('renders a structured description as one readable text', () => {
    const given = toTool({
      name: 'Deploy',
      displayName: 'Deployment',
      description: {
        short: 'Deploys.',
        long: 'To staging or production.',
        usageNotes: ['CI first'],
        important: ['Ask a person'],
        examples: [{ description: 'A release', params: { version: '1.0' } }],
      },
      schema: z.object({ version: z.string() }),
      execute: done,
    })
    expect(given.description).toBe(
      'Deploys.\n\nTo staging or production.\n\nUsage notes:\n- CI first\n\nImportant:\n- Ask a person\n\n' +
        'Examples:\n- A release: {"version":"1.0"}',
    )
    expect(given.annotations.title).toBe('Deployment')
  })

  it('calls execute as a method of the author’s object', async () => {
    const counter = {
      name: 'c',
      description: 'd',
      parameters: { type: 'object' },
      count: 41,
      execute() {
        return ++this.count
      },
    }
    expect(await toTool(counter).execute({}, ctx)).toBe(42)
  })

  it('turns a synchronous throw of execute into a rejection', async () => {
    const failing = toTool({
      name: 't',
      description: 'd',
      parameters: { type: 'object' },
      execute: () => {
        throw new Error('no')
      },
    })
    await expect(failing.execute({}, ctx)).rejects.toThrow('no')
  })
})

describe('toTool refuses', () => {
  const good = { name: 'fetch', description: 'd', parameters: { type: 'object' }, execute: done }

  it.each([
    ['what is no object', 'fetch', 'must be an object, not string'],
    ['an empty name', { ...good, name: '' }, 'tool ""'],
    ['a name providers refuse', { ...good, name: 'get weather' }, 'tool "get weather": name'],
    ['a name of 65 characters', { ...good, name: 'x'.repeat(65) }, 'name must be 1 to 64'],
    ['a missing description', { ...good, description: ' ' }, 'tool "fetch": description'],
    ['a structured description without short', { ...good, description: { long: 'x' } }, 'tool "fetch": description'],
    ['a missing execute', { ...good, execute: undefined }, 'tool "fetch": execute'],
    ['a missing schema', { ...good, parameters: undefined }, 'tool "fetch": the schema is missing'],
    [
      'a schema that is not an object at the top',
      { ...good, parameters: { type: 'array' } },
      'must be type "object", not "array"',
    ],
    ['a Zod schema that is not an object', { ...good, parameters: z.string() }, 'must be type "object", not "string"'],
    ['alternatives at the top', { ...good, parameters: { type: 'object', anyOf: [{}] } }, '"anyOf"'],
    [
      'invalid JSON Schema',
      { ...good, parameters: { type: 'object', properties: { a: { type: 'text' } } } },
      'the JSON Schema is invalid',
    ],
    ['an unknown effect', { ...good, effect: 'none' }, 'effect must be one of pure, idempotent, non_idempotent'],
    ['a verify that is no function', { ...good, verify: true }, 'verify must be a function'],
    [
      'an unknown word for unknown outcomes',
      { ...good, onUnknownOutcome: 'retry' },
      'onUnknownOutcome must be one of report, ask',
    ],
    ['an unknown kind', { ...good, kind: 'read' }, 'kind must be one of readonly, write, execute'],
    ['a time-out that is none', { ...good, timeout: 'soon' }, 'tool "fetch": timeout: \'soon\''],
    [
      'a Standard Schema without JSON form',
      { ...good, parameters: { '~standard': { vendor: 'acme', validate: done } } },
      'this acme schema has no JSON form',
    ],
  ])('%s, naming the tool and the field', (_what, anything, message) => {
    expect(refusal(anything)).toContain(message)
  })

  it('a Zod date, naming the field and what to use instead', () => {
    const parameters = z.object({ trip: z.object({ days: z.array(z.date()) }) })
    expect(refusal({ ...good, parameters })).toBe(
      'tool "fetch": the Zod schema has no JSON form: field "trip.days[]" is z.date(), which JSON has not; ' +
        'use z.iso.datetime() and make the Date in execute',
    )
  })

  it('a Zod map in a record, naming the field', () => {
    const parameters = z.object({ a: z.any(), all: z.record(z.string(), z.map(z.string(), z.string())) })
    expect(refusal({ ...good, parameters })).toContain('field "all.*" is z.map()')
  })
})

it('two tools may carry the same $id', () => {
  const like = (name: string, type: string) => ({
    name,
    description: 'd',
    parameters: { $id: 'https://example.com/same', type: 'object', properties: { a: { type } } },
    execute: done,
  })
  expect(toTool(like('one', 'string')).check({ a: 'x' }).ok).toBe(true)
  expect(toTool(like('two', 'boolean')).check({ a: 'x' }).ok).toBe(false)
})
