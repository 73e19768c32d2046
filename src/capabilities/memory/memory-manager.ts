/** The rules over a store of memories: what may be saved, and why two saves at the same time do not undo each other. */
import { StelloError } from '../../core/errors.ts'
import { MEMORY_NAME, type Memory, type MemoryStore, type StoredMemory } from './memory-store.ts'

/** A change of a memory. Unset fields stay as they are; a new memory needs a description and a body. */
export type MemoryChange = Pick<Memory, 'name'> & Partial<Memory>

/** A space may be the name of a folder. */
const SPACE = /^(?!\.+$)[a-zA-Z0-9._@+() -]{1,100}$/
/** How often a save is tried when somebody else has changed the memory meanwhile. */
const TRIES = 10

/**
 * Reads and writes memories. Each is in a space: 1 to 100 letters, digits, `.`, `_`, `-`, `@`, `+`, brackets or spaces, and
 * not dots alone. Errors of the store itself pass through each method.
 *
 * @example
 * const memoryManager = new MemoryManager(postgresMemory({ connectionString: 'postgresql://…' }))
 * await memoryManager.save('alice', { name: 'tone', type: 'feedback', description: 'How to write', body: 'Short.' })
 */
export class MemoryManager {
  /** Where the memories are kept. */
  readonly store: MemoryStore

  constructor(store: MemoryStore) {
    this.store = store
  }

  /**
   * All memories of a space, by name.
   *
   * @throws StelloError INVALID_ARGUMENT when the space is not allowed
   * @example for (const { name, description } of await memoryManager.list('alice')) console.log(name, description)
   */
  async list(space: string): Promise<StoredMemory[]> {
    return this.store.list(checkedSpace(space))
  }

  /**
   * The memory of that name, or undefined.
   *
   * @throws StelloError INVALID_ARGUMENT when the space or the name is not allowed
   * @example const tone = await memoryManager.get('alice', 'tone')
   */
  async get(space: string, name: string): Promise<StoredMemory | undefined> {
    return this.store.get(checkedSpace(space), checkedName(name))
  }

  /**
   * The memories that hold each word of the query in name, description or body. Capitals do not matter.
   *
   * @throws StelloError INVALID_ARGUMENT when the space is not allowed
   * @example const [found] = await memoryManager.search('alice', 'how to write')
   */
  async search(space: string, query: string): Promise<StoredMemory[]> {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    return (await this.list(space)).filter(({ name, description, body }) => {
      const text = [name, description, body].join('\n').toLowerCase()
      return words.every((word) => text.includes(word))
    })
  }

  /**
   * Saves a memory under its name. If two callers change different fields at once, both changes stay.
   *
   * @returns `created`: whether the memory is new
   * @throws StelloError INVALID_ARGUMENT when the space or the name is not allowed, or a new memory has no description or
   *   body; STORE_UNAVAILABLE when others have changed the memory during each of 10 tries
   * @example await memoryManager.save('alice', { name: 'tone', description: 'How to write', body: 'Short.' })
   */
  async save(space: string, change: MemoryChange): Promise<{ created: boolean }> {
    for (let tried = 0; tried < TRIES; tried++) {
      const found = await this.get(space, change.name)
      if (await this.store.put(space, changed(found, change), found?.version)) return { created: !found }
    }
    throw new StelloError('STORE_UNAVAILABLE', `memory "${change.name}" is changed all the time by somebody else`)
  }

  /**
   * Forgets the memory of that name.
   *
   * @returns false when there is none
   * @throws StelloError INVALID_ARGUMENT when the space or the name is not allowed
   * @example await memoryManager.delete('alice', 'tone')
   */
  async delete(space: string, name: string): Promise<boolean> {
    return this.store.delete(checkedSpace(space), checkedName(name))
  }
}

function checkedSpace(space: string): string {
  if (SPACE.test(space)) return space
  throw new StelloError('INVALID_ARGUMENT', `the memory space ${JSON.stringify(space)} is not allowed`, {
    hint: 'use 1 to 100 letters, digits, ".", "_", "-", "@" or "+", and not dots alone',
  })
}

function checkedName(name: string): string {
  if (MEMORY_NAME.test(name)) return name
  throw new StelloError('INVALID_ARGUMENT', `the memory name ${JSON.stringify(name)} is not allowed`, {
    hint: 'use 1 to 64 lower-case letters, digits, "-" or "_", a letter or digit first',
  })
}

function changed(found: StoredMemory | undefined, change: MemoryChange): Memory {
  const { name, description = found?.description, body = found?.body, type = found?.type ?? 'project' } = change
  if (description === undefined || body === undefined) {
    throw new StelloError('INVALID_ARGUMENT', `there is no memory "${name}" yet: give its description and body`)
  }
  return { name, description, type, body }
}
