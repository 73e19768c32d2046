/** Which tools fit a query. */
import { expect, it } from 'vitest'
import { findTools } from '../../../../src/capabilities/skills/find-tools.ts'

const tool = (name: string, description: string, displayName?: string) => ({
  name,
  description,
  parameters: { type: 'object' },
  ...(displayName !== undefined && { displayName }),
})
const tools = [
  tool('notebook_edit', 'Changes cells'),
  tool('edit', 'Changes files'),
  tool('mail_send', 'Sends mail about a notebook'),
  tool('calendar', 'Plans days', 'Edit dates'),
]
const names = (query: string, limit = 5): string[] => findTools(tools, query, limit).tools.map(({ name }) => name)

it.each([
  ['edit', ['edit', 'notebook_edit', 'calendar']],
  ['NOTEBOOK', ['notebook_edit', 'mail_send']],
  ['changes', ['edit', 'notebook_edit']],
  ['notebook changes', ['notebook_edit', 'edit', 'mail_send']],
  ['weather', []],
  [' , ', []],
])('the words %j find %j, the best first', (query, found) => {
  expect(names(query)).toEqual(found)
})

it('no more are found than asked for', () => {
  expect(names('edit', 1)).toEqual(['edit'])
})

it('names are selected in any case, all of them, and missing ones are reported', () => {
  expect(findTools(tools, 'select: calendar,EDIT, nothing,edit', 1)).toMatchObject({
    tools: [{ name: 'calendar' }, { name: 'edit' }],
    missing: ['nothing'],
  })
})
