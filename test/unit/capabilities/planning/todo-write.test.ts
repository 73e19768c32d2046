/** TodoWrite as a model meets it. */
import { expect, it } from 'vitest'
import { planning } from '../../../../src/capabilities/index.ts'
import { callToolOf } from '../call-tool-of.ts'
import { testContext } from '../test-context.ts'

const todo = (content: string, status: string): object => ({ content, status, activeForm: `${content} now` })

function useTodos() {
  const ctx = testContext()
  const call = callToolOf(planning(), ctx)
  return { ctx, write: (todos: unknown) => call('TodoWrite', { todos }) }
}

it('replaces the whole list, and shows it to people', async () => {
  const { ctx, write } = useTodos()
  await write([todo('Look', 'in_progress')])
  const list = [todo('Look', 'completed'), todo('Write', 'in_progress'), todo('Test', 'pending')]
  expect(await write(list)).toEqual({
    text: 'The list is saved: 1 of 3 completed, 1 in progress.',
    isError: false,
    display: '[x] Look\n[>] Write now\n[ ] Test',
  })
  expect(await ctx.values.get('todos')).toEqual(list)
})

it('is cleared by an empty list', async () => {
  const { ctx, write } = useTodos()
  await write([todo('Look', 'pending')])
  expect(await write([])).toMatchObject({ text: 'The list is empty now.', isError: false })
  expect(await ctx.values.get('todos')).toBeUndefined()
})

it('takes two entries in progress, and says that there should be one', async () => {
  const { ctx, write } = useTodos()
  const both = [todo('Look', 'in_progress'), todo('Write', 'in_progress')]
  expect(await write(both)).toMatchObject({ isError: false, text: expect.stringContaining('only one') })
  expect(await ctx.values.get('todos')).toHaveLength(2)
})

it('keeps id and priority, and reads a list that a model has sent as text', async () => {
  const { ctx, write } = useTodos()
  const list = [{ ...todo('Look', 'pending'), id: 'a', priority: 'high' }]
  expect(await write(JSON.stringify(list))).toMatchObject({ isError: false })
  expect(await ctx.values.get('todos')).toEqual(list)
})

it.each([
  ['an unknown status', [todo('Look', 'done')]],
  ['an empty text', [todo('', 'pending')]],
  ['more than 100 entries', Array.from({ length: 101 }, () => todo('Look', 'pending'))],
  ['no list', 'Look'],
])('refuses %s, and keeps the earlier list', async (_what, todos) => {
  const { ctx, write } = useTodos()
  await write([todo('Look', 'pending')])
  expect(await write(todos)).toMatchObject({ isError: true })
  expect(await ctx.values.get('todos')).toEqual([todo('Look', 'pending')])
})
