/** A server that refuses to register search attributes costs a warning, and no session. */
import type { Client } from '@temporalio/client'
import { expect, it } from 'vitest'
import { registerSearchAttributes, searchableBy } from '../../../src/client/register-search-attributes.ts'

interface Asked {
  client: Client
  asked: string[]
}

/** An operator service with the given answers. */
function operator(answers: { list: () => Promise<object>; add: () => Promise<object> }): Asked {
  const asked: string[] = []
  const told = (name: 'list' | 'add') => (): Promise<object> => {
    asked.push(name)
    return answers[name]()
  }
  const operatorService = { listSearchAttributes: told('list'), addSearchAttributes: told('add') }
  return { asked, client: { options: { namespace: 'default' }, connection: { operatorService } } as unknown as Client }
}

const denied = (): Promise<never> => Promise.reject(new Error('7 PERMISSION_DENIED: Request unauthorized.'))
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
