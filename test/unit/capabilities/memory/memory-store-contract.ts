/** The contract of every store of memories. */
import { expect, it } from 'vitest'
import { MemoryManager, type Memory, type MemoryStore } from '../../../../src/capabilities/index.ts'

const NOTE: Memory = { name: 'note', type: 'project', description: 'A note', body: 'Text' }

/** @param open called inside each test: the store, in which the space must be new */
export function memoryStoreContract(open: () => { store: MemoryStore; space: string }): void {
  it('creates only what is not there, and changes only the version that was read', async () => {
    const { store, space } = open()
    expect(await store.put(space, NOTE, 'unknown')).toBe(false)
    expect(await store.put(space, NOTE, undefined)).toBe(true)
    expect(await store.put(space, NOTE, undefined)).toBe(false)
    const read = await store.get(space, 'note')
    expect(read).toEqual({ ...NOTE, version: read?.version })
    expect(await store.put(space, { ...NOTE, body: 'Changed' }, read?.version)).toBe(true)
    expect(await store.put(space, { ...NOTE, body: 'Lost' }, read?.version)).toBe(false)
    expect(await store.get(space, 'note')).toMatchObject({ body: 'Changed' })
  })

  it('loses nothing when two change different fields at once', async () => {
    const { store, space } = open()
    const manager = new MemoryManager(store)
    await manager.save(space, NOTE)
    await Promise.all([
      manager.save(space, { name: 'note', description: 'Other' }),
      manager.save(space, { name: 'note', body: 'Other text' }),
      manager.save(space, { name: 'note', type: 'user' }),
    ])
    expect(await manager.get(space, 'note')).toMatchObject({ description: 'Other', body: 'Other text', type: 'user' })
  })

  it('lists by name, searches the words in any case, and forgets once', async () => {
    const { store, space } = open()
    const manager = new MemoryManager(store)
    for (const name of ['b', 'a', 'c'])
      await manager.save(space, { ...NOTE, name, body: `Text of ${name.toUpperCase()}` })
    expect((await manager.list(space)).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect((await manager.search(space, 'TEXT of b')).map(({ name }) => name)).toEqual(['b'])
    expect(await manager.list(`${space}-other`)).toEqual([])
    expect([await store.delete(space, 'b'), await store.delete(space, 'b')]).toEqual([true, false])
    expect(await store.get(space, 'b')).toBeUndefined()
  })

  it('does not take a memory that was forgotten and written again for the one that was read', async () => {
    const { store, space } = open()
    await store.put(space, NOTE, undefined)
    const read = await store.get(space, 'note')
    await store.delete(space, 'note')
    await store.put(space, { ...NOTE, body: 'New' }, undefined)
    expect(await store.put(space, { ...NOTE, body: 'Lost' }, read?.version)).toBe(false)
  })
}
