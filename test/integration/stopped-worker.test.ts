/** A worker that has stopped leaves nothing behind that makes the rest of its process slower. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { NativeConnection } from '@temporalio/worker'
import { expect, it, onTestFinished, vi } from 'vitest'
import { scriptedModel } from '../../src/testing/index.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()

it('ends the storage that its connection has for the contexts of requests', async () => {
  const connect = vi.spyOn(NativeConnection, 'connect')
  const disable = vi.spyOn(AsyncLocalStorage.prototype, 'disable')
  onTestFinished(() => void vi.restoreAllMocks())
  const worker = await stello.work({ llm: scriptedModel([]) })
  const connection: unknown = await connect.mock.results[0]?.value
  const storage = Object.values(connection as object).find((value) => value instanceof AsyncLocalStorage)
  expect(storage).toBeDefined()
  await worker.stop()
  expect(disable.mock.contexts).toContain(storage)
})
