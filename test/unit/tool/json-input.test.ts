/**
 * What a JSON Schema says about a tool's input, as a type. The compiler is the test; a run only has to agree with it.
 */
import { expect, expectTypeOf, it } from 'vitest'
import { registerTool, toolFromDefinition, toolRegistry } from '../../../src/tool/compat.ts'
import type { JsonInput } from '../../../src/tool/json-input.ts'
import type { ToolContext } from '../../../src/tool/tool.ts'

it('a schema written in place is the type of the input, down to what is inside of it', async () => {
  const book = toolFromDefinition({
    name: 'book',
    description: 'Books rooms',
    parameters: {
      type: 'object',
      properties: {
        room: { type: 'string', description: 'Its name' },
        nights: { type: 'integer' },
        board: { enum: ['none', 'full'] },
        currency: { const: 'EUR' },
        quiet: { type: ['boolean', 'null'] },
        guests: {
          type: 'array',
          items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
        wishes: { type: 'array' },
        extra: {},
      },
      required: ['room', 'guests'],
    },
    execute: async (params) => {
      expectTypeOf(params).toEqualTypeOf<{
        room: string
        guests: { name: string }[]
        nights?: number
        board?: 'none' | 'full'
        currency?: 'EUR'
        quiet?: boolean | null
        wishes?: unknown[]
        extra?: unknown
      }>()
      const [first] = params.guests
      return `${params.room} for ${first?.name}, ${params.nights ?? 1} night`
    },
  })
  const checked = book.check({ room: 'A', guests: [{ name: 'Ann' }] })
  expect(checked.ok && (await book.execute(checked.value, {} as ToolContext))).toBe('A for Ann, 1 night')
})

it('so is that of a registered tool', () => {
  registerTool(
    {
      name: 'shout',
      description: 'Shouts',
      parameters: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
    },
    ({ what }) => what.toUpperCase(),
  )
  expect(toolRegistry.get('shout')?.check({ what: 'x' })).toEqual({ ok: true, value: { what: 'x' } })
})

it('a schema whose literal types are lost, or that says nothing, is an object of unknown fields', () => {
  const lost = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  expectTypeOf<JsonInput<typeof lost>>().toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf<JsonInput<{ type: 'object' }>>().toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf<JsonInput<Record<string, unknown>>>().toEqualTypeOf<Record<string, unknown>>()
  const optional = { type: 'object', properties: { a: { type: 'string' } } } as const
  expectTypeOf<JsonInput<typeof optional>>().toEqualTypeOf<{ a?: string }>()
  expect(optional.properties.a.type).toBe('string')
})
