/**
 * A namespace that nobody has used yet. `stello dev` registers the search attributes at its start; here the workers
 * must do it.
 */
import { randomBytes } from 'node:crypto'
import { expect, inject, it } from 'vitest'
import { scriptedModel } from '../../src/testing/index.ts'
import { SEARCH_ATTRIBUTES } from '../../src/protocol/search-attributes.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { createNamespace } from './temporal.ts'

const stello = useStello(async () => {
  const temporalAddress = inject('temporalAddress')
  const namespace = `fresh-${randomBytes(4).toString('hex')}`
  await createNamespace(temporalAddress, namespace, '24h')
  return { temporalAddress, namespace, close: () => Promise.resolve() }
})

it('two workers that start at once register the attributes, and a client that was there before uses them', async () => {
  const { taskQueue } = await stello.work({ llm: scriptedModel(() => 'hi') })
  const { rows } = await stello.db.pool.query('select boot_id from workers where agent = $1', [taskQueue])
  expect([rows.length, stello.warnings]).toEqual([2, []])
  const session = await stello.client.createSession({ agent: taskQueue, label: 'tea' })
  expect(await ask(session, 'hello')).toBe('hi')
  const { typedSearchAttributes } = await stello.client.temporal.workflow.getHandle(session.id).describe()
  const names = typedSearchAttributes.getAll().map(({ key }) => key.name)
  expect(names).toEqual(expect.arrayContaining(['StelloRoot', 'StelloLabel', 'StelloState']))
  const { customAttributes } = await stello.client.temporal.connection.operatorService.listSearchAttributes({
    namespace: stello.servers.namespace ?? '',
  })
  expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining([...SEARCH_ATTRIBUTES]))
})
