import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresMemory } from '../../src/capabilities/index.ts'
import { memoryStoreContract } from '../unit/capabilities/memory/memory-store-contract.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase({ empty: true })
const newSpace = (): string => `space-${randomBytes(4).toString('hex')}`

function openStore(connectionString: string = at.url) {
  const store = postgresMemory({ connectionString })
  onTestFinished(() => store.close?.())
  return store
}

describe('memories in PostgreSQL', () => {
  memoryStoreContract(() => ({ store: openStore(), space: newSpace() }))

  it('are shared by workers that begin at once on an empty database', async () => {
    await at.db.pool.query('drop schema if exists stello_memory cascade')
    const stores = [openStore(), openStore(), openStore()]
    const space = newSpace()
    await Promise.all(stores.map(async (store) => store.open?.()))
    await stores[0]?.put(space, { name: 'a', type: 'user', description: 'A', body: 'B' }, undefined)
    expect(await stores[2]?.get(space, 'a')).toMatchObject({ body: 'B' })
  })

  it('can be used again after they were closed', async () => {
    const store = openStore()
    await store.open?.()
    await store.close?.()
    expect(await store.list(newSpace())).toEqual([])
  })

  it('say what is wrong where there is no database, without the password', async () => {
    const url = new URL(at.url)
    Object.assign(url, { pathname: '/missing', password: 'a-secret-password' })
    const trouble = openStore(url.href).open?.()
    await expect(trouble).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    await expect(trouble).rejects.not.toThrow('a-secret-password')
    await expect(trouble).rejects.toThrow('memory: the database cannot be used')
  })
})
