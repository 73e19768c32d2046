/** Whether sessions may use search attributes, with servers that refuse something. It costs a warning, and no session. */
import type { Client } from '@temporalio/client'
import { SEARCH_ATTRIBUTES } from '../../../src/protocol/search-attributes.ts'
import { expect, it } from 'vitest'
import { registerSearchAttributes, searchableBy } from '../../../src/temporal/register-search-attributes.ts'

interface Asked {
  client: Client
  asked: string[]
}

interface Answers {
  list: () => Promise<object>
  add: () => Promise<object>
  count?: () => Promise<object>
}

/** A server with the given answers. */
function operator(answers: Answers): Asked {
  const asked: string[] = []
  const told = (name: keyof Answers) => (): Promise<object> => {
    asked.push(name)
    return answers[name]?.() ?? Promise.resolve({ count: 0 })
  }
  const operatorService = { listSearchAttributes: told('list'), addSearchAttributes: told('add') }
  const workflow = { count: told('count') }
  const client = { options: { namespace: 'default' }, connection: { operatorService }, workflow } as unknown as Client
  return { asked, client }
}

const denied = (): Promise<never> => Promise.reject(new Error('7 PERMISSION_DENIED: Request unauthorized.'))
/** As Temporal's client throws what the server says. */
const refused = (code: number): Promise<never> =>
  Promise.reject(Object.assign(new Error('refused'), { code, details: 'refused', metadata: {} }))
const all = (): Promise<object> =>
  Promise.resolve({ customAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, 2])) })
const none = (): Promise<object> => Promise.resolve({ customAttributes: {} })

it.each([
  ['the registration', { list: none, add: denied }, ['list', 'add']],
  ['the question which there are', { list: denied, add: denied }, ['list']],
])(
  'refuses %s: the worker warns once and goes on, and new sessions do without them',
  async (_what, answers, expected) => {
    const { client, asked } = operator(answers)
    const warnings: string[] = []
    await registerSearchAttributes(client, { warn: (message) => void warnings.push(message) })
    expect(asked).toEqual(expected)
    expect(warnings).toEqual([
      'search attributes cannot be registered, sessions run without: 7 PERMISSION_DENIED: Request unauthorized.',
    ])
    expect(await searchableBy(client)()).toBe(false)
  },
)

it('waits until the server that starts workflows knows what was registered', async () => {
  const knows = [() => refused(3), () => refused(3), () => Promise.resolve({ count: 0 })]
  const { client, asked } = operator({ list: all, add: denied, count: () => knows.shift()?.() ?? refused(13) })
  expect(await searchableBy(client)()).toBe(true)
  expect(asked.filter((each) => each === 'count')).toHaveLength(3)
})

it.each([
  ['may not ask whether they can be used: the start of a session will tell', 7, true],
  ['does not answer the question: sessions do without them', 14, false],
])('a client that %s', async (_what, code, expected) => {
  const { client } = operator({ list: all, add: denied, count: () => refused(code) })
  expect(await searchableBy(client)()).toBe(expected)
})
