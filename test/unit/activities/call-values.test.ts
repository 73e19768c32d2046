/** The values of its session that one attempt at a call sees and sets. */
import { describe, expect, it } from 'vitest'
import { CallValues } from '../../../src/activities/tool/call-values.ts'

const over = (stored: Record<string, unknown> = {}): CallValues => new CallValues(async (name) => stored[name])

describe('the values of a call', () => {
  it('are read from the session until the call sets its own', async () => {
    const values = over({ todos: ['read'] })
    expect(await values.get('todos')).toEqual(['read'])
    values.set('todos', ['write'])
    expect(await values.get('todos')).toEqual(['write'])
    expect(values.changes()).toEqual([{ name: 'todos', value: ['write'] }])
  })

  it('are copies: neither the one who sets a value nor the one who reads it can change it', async () => {
    const values = over()
    const todos = ['read']
    values.set('todos', todos)
    todos.push('later')
    ;((await values.get('todos')) as string[]).push('later still')
    expect(await values.get('todos')).toEqual(['read'])
    expect(values.changes()).toEqual([{ name: 'todos', value: ['read'] }])
  })

  it.each([
    ['delete', (values: CallValues) => values.delete('todos')],
    ['null', (values: CallValues) => values.set('todos', null)],
  ])('are removed by %s', async (_how, remove) => {
    const values = over({ todos: ['read'] })
    remove(values)
    expect(await values.get('todos')).toBeUndefined()
    expect(values.changes()).toEqual([{ name: 'todos', value: null }])
  })

  it('are kept as the store can hold them', async () => {
    const values = over()
    values.set('text', 'a\0b\ud83d')
    expect(await values.get('text')).toBe('a\ufffdb\ufffd')
  })

  it('change nothing where none was set', () => {
    expect(over({ a: 1 }).changes()).toEqual([])
  })

  it.each([
    ['', '""'],
    ['x'.repeat(101), '1 to 100 characters'],
    ['a\0', '"a\\u0000"'],
    [5, 'a number'],
  ])('refuse the name %j', async (name, why) => {
    const values = over()
    expect(() => values.set(name as string, 1)).toThrow(why)
    await expect(values.get(name as string)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  const circle: Record<string, unknown> = {}
  circle.itself = circle
  it.each([
    ['undefined', undefined, 'is undefined'],
    ['a function inside', { run: () => 1 }, '"run" is a function'],
    ['a promise', Promise.resolve(1), 'is a Promise'],
    ['a circle', circle, 'circular'],
    ['more than 256 KiB', 'é'.repeat(128 * 1024), 'has 257 KiB'],
  ])('refuse %s', (_what, value, why) => {
    const values = over()
    expect(() => values.set('state', value)).toThrow(why)
    expect(values.changes()).toEqual([])
  })

  it('take up to 256 KiB', () => {
    const values = over()
    values.set('text', 'x'.repeat(256 * 1024 - 2))
    expect(values.changes()).toHaveLength(1)
  })
})
