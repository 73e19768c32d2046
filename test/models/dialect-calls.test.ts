/**
 * How servers tell the pieces of several calls apart, over real HTTP. Servers that keep to the standard are tested in
 * answer.test.ts.
 */
import { describe, expect, it } from 'vitest'
import { streamed } from '../support/dialect-answers.ts'
import { chunk, sse } from '../support/raw-provider.ts'

const DONE = '[DONE]'

describe('streamed calls', () => {
  const call = (
    index: number | undefined,
    id: string | undefined,
    name: string | null | undefined,
    args: unknown,
  ): object => chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] })
  const calls = async (...pieces: object[]): Promise<[string, string][]> => {
    const { toolCalls, deltas } = await streamed(sse(...pieces, chunk({}, 'tool_calls'), DONE))
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(toolCalls.length)
    // People are shown each call with its id and its name first, and with all its arguments.
    for (const [index, { id, name, arguments: args }] of toolCalls.entries()) {
      const told = deltas.flatMap((delta) => (delta.type === 'toolCall' && delta.index === index ? [delta] : []))
      expect(told[0]).toMatchObject({ id, name })
      expect(told.map((piece) => piece.arguments).join('')).toBe(args)
    }
    return toolCalls.map(({ name, arguments: args }) => [name, args])
  }

  it('with one id at two indexes are two', async () => {
    expect(
      await calls(call(0, 'x', 'look', '{"n":1}'), call(1, 'x', 'look', '{"n"'), call(1, 'x', undefined, ':2}')),
    ).toEqual([
      ['look', '{"n":1}'],
      ['look', '{"n":2}'],
    ])
  })

  it('without ids, all at index 0, are counted by their beginnings', async () => {
    expect(
      await calls(call(0, undefined, 'look', '{"n":1}'), call(0, '', 'look', '{"n":2}'), call(0, '', 'see', '{}')),
    ).toEqual([
      ['look', '{"n":1}'],
      ['look', '{"n":2}'],
      ['see', '{}'],
    ])
  })

  it('whose pieces repeat id and name are one each', async () => {
    expect(await calls(call(0, 'a', 'look', ''), call(0, 'a', 'look', '{"n"'), call(0, 'a', 'look', ':1}'))).toEqual([
      ['look', '{"n":1}'],
    ])
  })

  it('whose name is repeated without id or index are one', async () => {
    expect(await calls(call(undefined, '', 'look', '{"n"'), call(undefined, '', 'look', ':1}'))).toEqual([
      ['look', '{"n":1}'],
    ])
  })

  it('that begin with a name of null have the name that follows', async () => {
    expect(
      await calls(call(0, 'a', null, null), call(0, undefined, 'look', ''), call(0, undefined, null, '{}')),
    ).toEqual([['look', '{}']])
  })

  it('whose pieces alternate at one index are told apart by their ids', async () => {
    expect(
      await calls(
        call(0, 'a', 'look', '{"n"'),
        call(0, 'b', 'look', '{"n"'),
        call(0, 'a', null, ':1}'),
        call(0, 'b', null, ':2}'),
      ),
    ).toEqual([
      ['look', '{"n":1}'],
      ['look', '{"n":2}'],
    ])
  })

  it('with a new id in every piece stay one call while the index stays', async () => {
    expect(await calls(call(0, 'a', 'look', '{"n"'), call(0, 'b', null, ':1}'))).toEqual([['look', '{"n":1}']])
  })

  it('with complete arguments as an object are as many as the objects', async () => {
    expect(
      await calls(call(undefined, undefined, 'look', { n: 1 }), call(undefined, undefined, 'look', { n: 1 })),
    ).toEqual([
      ['look', '{"n":1}'],
      ['look', '{"n":1}'],
    ])
  })

  it('of servers that know only one call have its name and arguments', async () => {
    expect(
      await calls(
        chunk({ function_call: { name: 'look', arguments: '{"n"' } }),
        chunk({ function_call: { arguments: ':1}' } }),
      ),
    ).toEqual([['look', '{"n":1}']])
  })
})
