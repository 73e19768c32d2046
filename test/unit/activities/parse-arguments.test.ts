/** Arguments as a model wrote them: nothing in them may reach a prototype, in whatever way a tool copies them. */
import { describe, expect, it } from 'vitest'
import { parseArguments } from '../../../src/activities/tool/parse-arguments.ts'
import { readPartial } from '../../../src/activities/model/partial-arguments.ts'
import { toTool } from '../../../src/tool/to-tool.ts'

const open = { type: 'object', properties: { path: { type: 'string' }, o: { type: 'object' } } }
const tool = (aliases?: Record<string, string>) =>
  toTool({ name: 't', description: 'd', parameters: open, ...(aliases && { aliases }), execute: () => 'done' })

function read(text: string, aliases?: Record<string, string>): Record<string, unknown> {
  const parsed = parseArguments({ id: 'c', name: 't', arguments: text }, tool(aliases).check)
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed.value as Record<string, unknown>
}

/** Ways in which tools copy. A deep merge follows `constructor.prototype`, and `Object.assign` sets `__proto__`. */
function pollutes(args: Record<string, unknown>): boolean {
  return 'admin' in Object.assign({}, args) || Object.hasOwn(args, 'constructor')
}

describe('arguments with a prototype in them', () => {
  it.each([
    '{"path":"a","__proto__":{"admin":true}}',
    '{"path":"a","\\u005f_proto__":{"admin":true}}',
    '{"path":"a","constructor":{"prototype":{"admin":true}}}',
  ])('come without: %s', (text) => {
    for (const aliases of [undefined, { filePath: 'path' }]) {
      const args = read(text, aliases)
      expect(args).toEqual({ path: 'a' })
      expect('admin' in args || pollutes(args)).toBe(false)
      expect(Object.getPrototypeOf(args)).toBe(Object.prototype)
    }
    expect(Object.keys(readPartial(text) ?? {})).toEqual(['path'])
  })

  it('come without at every depth, also where text is repaired to an object', () => {
    expect(read('{"o":{"a":[{"__proto__":{"admin":true},"b":1}]}}')).toEqual({ o: { a: [{ b: 1 }] } })
    const { o } = read(JSON.stringify({ o: '{"__proto__":{"admin":true},"b":1}' }))
    expect(Object.keys(o as object)).toEqual(['b'])
  })

  it('keep a constructor that is only a word', () => {
    expect(read('{"constructor":"Ferrari"}')).toEqual({ constructor: 'Ferrari' })
  })
})
